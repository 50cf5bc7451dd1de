import { isDeepStrictEqual } from 'node:util';
import {
  auditActor,
  type DeviceIdentity,
  type Internal,
  type Principal,
  refuseAccess,
  refuseCaller,
  type Verifier,
} from '@attribution/auth';
import { auditKeeper, bodyLimitOf, type CallerName, type Endpoint, isRecorded, Problem } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import {
  admitUpload,
  answeredStatus,
  type ByteBudget,
  type Claim,
  type Download,
  givenTraceparent,
  type HttpMetrics,
  networkOf,
  openSpool,
  parseJsonBody,
  problemOf,
  queryOf,
  type RefusalLog,
  type RequestContext,
  readBytes,
  receiveUpload,
  requestContext,
  requestRecorder,
  type SentFile,
  sendDownload,
  sendFile,
  validate,
  writeProblem,
} from '@attribution/http';
import { newUuid } from '@attribution/ids';
import type { Outbox } from '@attribution/messaging';
import { inTrace, noTracing, type Span, type Tracing, traceFields } from '@attribution/tracing';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import type { ZodType } from 'zod';
import { type AuditNote, type AuditRecorder, isAudited, type RecordedRequest, refusedSubject } from './audit.ts';
import { type Idempotency, idempotencyKeyOf, type KeyedRequest } from './idempotency.ts';
import { Chosen, type Implementation } from './implement.ts';
import type { CallerTurns } from './turns.ts';

export interface AppOptions {
  readonly implementations: readonly Implementation[];
  readonly verifier: Verifier;
  readonly internal: Pick<Internal, 'verify' | 'verifyDevice'>;
  readonly idempotency: Idempotency;
  readonly logger: Logger;
  readonly problemBase: string;
  readonly metrics: HttpMetrics;
  /** What the process may hold of request bodies. */
  readonly bodies: ByteBudget;
  /** What the process may hold of files on disk. */
  readonly files: ByteBudget;
  readonly turns: CallerTurns;
  /** Where requests are recorded. Default: nowhere. */
  readonly recorder?: AuditRecorder | undefined;
  /** Where the events of a request's transaction, and its record, are gathered. Default: each is appended by itself. */
  readonly outbox?: Pick<Outbox, 'gather'>;
  /** Default: no spans are recorded. */
  readonly tracing?: Tracing;
  /** Whether to check every response against its contract, as in development and tests. A mismatch is a bug: 503. */
  readonly checkAnswers: boolean;
}

interface Locals {
  context: RequestContext;
  /** The contract that matched; absent for unknown paths. */
  contract?: Endpoint;
  /** As in the path, before they are validated. */
  params?: Request['params'];
  /** Whose token was verified; undefined for a service, and without a token. */
  caller?: Principal | DeviceIdentity;
  span?: Span;
}

/** An Express app that implements contracts: verify the token, authorize, validate the input, handle, respond. */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', false);
  app.use(openRequest(options));
  for (const implementation of options.implementations) {
    const { contract } = implementation;
    const method = contract.method.toLowerCase() as Lowercase<Endpoint['method']>;
    app[method](contract.path.replaceAll(/\{([a-z_]+)\}/g, ':$1'), answer(implementation, options));
  }
  return app;
}

/** Handles unknown paths and all errors. Added last, after everything else that the app serves. */
export function closeApp(
  app: Express,
  { logger, problemBase, refusals }: Pick<AppOptions, 'logger' | 'problemBase'> & { readonly refusals?: RefusalLog },
): void {
  app.use(() => {
    throw Problem.notFound();
  });
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    const malformedUrl = error instanceof URIError ? Problem.notFound() : undefined;
    const problem = malformedUrl ?? problemOf(error);
    const { context, span, caller, contract, params } = res.locals as Locals;
    const fields = { request_id: context?.id, platform_request_id: context?.platformId, ...traceFields(context) };
    if (problem.kind === 'forbidden' && !isAudited(problem) && isPrincipal(caller) && contract)
      refusals?.note({
        accountId: caller.accountId,
        actor: auditActor(caller),
        operation: contract.operation,
        subject: refusedSubject(contract, params),
        reason: problem.detail,
        request: context,
      });
    if (error instanceof Problem && problem.kind === 'unavailable') {
      // No fault: the service has decided so, because it has too much to do.
      logger.warn({ detail: problem.detail, ...fields }, 'A request was told to come again');
    } else if (problem.kind === 'unavailable') {
      span?.set({ 'error.type': error instanceof Error ? error.name : 'unknown' });
      logger.error({ err: error, ...fields }, 'A request failed');
    }
    writeProblem(res, problem, problemBase);
  });
}

function openRequest({ logger, metrics, tracing = noTracing }: AppOptions) {
  const record = requestRecorder(metrics, logger, 'debug');
  return (req: Request, res: Response, next: NextFunction) => {
    const started = performance.now();
    const context = requestContext(req, !tracing.on);
    const locals = res.locals as Locals;
    locals.context = context;
    res.setHeader('x-request-id', context.id);
    res.on('close', () => {
      const { method } = req;
      const operation = locals.contract?.operation ?? 'none';
      const status = answeredStatus(res);
      record({
        request_id: context.id,
        platform_request_id: context.platformId,
        trace: locals.context,
        caller: locals.caller,
        method,
        operation,
        status,
        seconds: (performance.now() - started) / 1000,
      });
      locals.span?.set({ 'http.response.status_code': status });
      locals.span?.end(status >= 500 ? status : undefined);
    });
    next();
  };
}

/** Responds within the request's trace, so that log lines, events and outgoing requests of the handler belong to it. */
function answer(implementation: Implementation, options: AppOptions) {
  const { contract } = implementation;
  const { tracing = noTracing } = options;
  const fulfil = fulfilling(implementation, options);
  const name = `${contract.method} ${contract.path}`;
  const about = { 'http.request.method': contract.method, 'http.route': contract.path, operation: contract.operation };
  return (req: Request, res: Response): Promise<void> => {
    const locals = res.locals as Locals;
    locals.contract = contract;
    locals.params = req.params;
    const span = tracing.begin(name, 'server', givenTraceparent(req), about);
    if (span) {
      const { id, platformId, ip, userAgent } = locals.context;
      span.set({ request_id: id, platform_request_id: platformId });
      locals.span = span;
      locals.context = { id, platformId, ip, userAgent, traceparent: span.traceparent, recorded: true };
    }
    return inTrace(locals.context, () => fulfil(req, res));
  };
}

function fulfilling(implementation: Implementation, options: AppOptions) {
  const { contract, refuse, prepare, beforeUpload } = implementation;
  return async (req: Request, res: Response): Promise<void> => {
    const locals = res.locals as Locals;
    const caller = admit(contract, req, options, locals);
    refuse?.(caller as never);
    const prepared = await prepare?.(caller as never);
    const asked = {
      params: readParams(contract, req.params),
      query: contract.query && validate(contract.query, queryOf(req.url), 'query'),
      headers: contract.headers && validate(contract.headers, req.headers, 'headers'),
      caller,
      request: locals.context,
    };
    const key = idempotencyKeyOf(contract, req.headers['idempotency-key']);
    const keyed =
      key && isPrincipal(caller) ? { contract, key, accountId: caller.accountId, callerId: caller.id } : undefined;
    const media = contract.upload && admitUpload(contract.upload, req);
    const turn = options.turns.begin(contract, { caller, ip: locals.context.ip }, res);
    const endTurn = typeof turn === 'function' ? turn : await turn;
    let taken = 0;
    let failed = true;
    try {
      // A request that is repeated gets its first response, whatever has changed since.
      if (beforeUpload && !(keyed && (await options.idempotency.knows(keyed)))) await beforeUpload(caller as never);
      const claim = claimFor(caller, res, options.bodies);
      const allowance = { maxBytes: bodyLimitOf(contract), claim };
      const signed = contract.access.credential === 'factory';
      if (signed) requirePlain(req);
      const bytes = contract.raw || signed ? await readBytes(req, res, allowance) : undefined;
      const sentBody = contract.body && (bytes ?? (await readBytes(req, res, allowance)));
      taken = sentBody?.length ?? 0;
      const json = sentBody && parseJsonBody(req, sentBody, { itemsApart: contract.items_apart });
      const body = contract.body && validate(contract.body, json, 'body');
      const file = () => claimFor(caller, res, options.files);
      const upload = contract.upload && media && (await receiveUpload(contract.upload, media, req, file()));
      const incoming = contract.stream === 'received' ? req : undefined;
      const input = { ...asked, prepared, body, bytes, incoming, upload, openSpool: () => openSpool(file()) };
      const sent = upload ? { media: upload.media, digest: upload.digest } : body;
      const request = keyed && { ...keyed, input: [asked.params, asked.query, sent] };
      const handled = handleOnce(implementation, request, options, input);
      const answered = await (upload ? handled.finally(() => upload.close()) : handled);
      failed = false;
      endTurn(taken); // Nobody waits for a client that receives its file slowly.
      if (contract.stream === 'sent') await sendFile(answered as SentFile, req, res);
      else await writeAnswer(contract, answered, res, options);
    } finally {
      endTurn(taken, failed);
      if (contract.stream === 'received') req.resume(); // The connection's next request follows what is left of the body.
    }
  };
}

type Caller = Principal | DeviceIdentity | CallerName | undefined;

const isPrincipal = (caller: Caller): caller is Principal => typeof caller === 'object' && caller.kind !== 'device';

/** Signed bytes are those that travel, so nothing may unpack them. */
function requirePlain({ headers }: Request): void {
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity')
    throw new Problem('validation-error', 'Content-Encoding: must be identity, because the body is signed.');
}

function clientOf(caller: Caller): string | undefined {
  if (typeof caller !== 'object') return undefined;
  return isPrincipal(caller) ? `account ${caller.accountId}` : `device ${caller.id}`;
}

/** What a request holds of the budget until it is answered. A client is an account, a device, or an address that gave no token. */
function claimFor(caller: Caller, res: Response, bodies: ByteBudget): Claim {
  const { ip } = (res.locals as Locals).context;
  const client = clientOf(caller) ?? `address ${networkOf(ip)}`;
  const claim = bodies.claim(typeof caller === 'string' ? undefined : client);
  if (res.closed) claim.release();
  else res.once('close', () => claim.release());
  return claim;
}

async function writeAnswer(
  contract: Endpoint,
  answered: unknown,
  res: Response,
  { checkAnswers }: Pick<AppOptions, 'checkAnswers'>,
): Promise<void> {
  const chosen = answered instanceof Chosen ? answered : undefined;
  const success = chosen?.status === 'also' ? contract.also : contract.success;
  if (!success) throw new Error(`${contract.operation} answers a success that its contract does not have`);
  const { status, body } = success;
  const { download } = contract.success;
  for (const [name, value] of Object.entries(chosen?.headers ?? {})) res.setHeader(name, value);
  res.statusCode = status;
  res.setHeader('cache-control', 'no-store');
  if (download) return sendDownload(download, answered as Download, res);
  if (!body) {
    res.end();
    return;
  }
  const value = chosen ? chosen.body : answered;
  if (checkAnswers) checkAnswer(contract.operation, body, value);
  const text = JSON.stringify(value);
  res.setHeader('content-type', 'application/json; charset=utf-8');
  res.setHeader('content-length', Buffer.byteLength(text));
  res.end(text);
}

interface Handled {
  readonly caller: Caller;
  readonly params: unknown;
  readonly body: unknown;
  readonly request: RequestContext;
}

/** Handles a request. With an idempotency key it is handled once, however often it is repeated. */
async function handleOnce(
  { contract, handle, runTransaction, renew }: Implementation,
  keyed: KeyedRequest | undefined,
  { idempotency, recorder, outbox }: Pick<AppOptions, 'idempotency' | 'recorder' | 'outbox'>,
  input: Handled,
): Promise<unknown> {
  const recording = recordingOf(contract, input, recorder);
  if (contract.external) {
    const work = async (attempt: string) => {
      const answer = await handle({ ...input, attempt } as never);
      // A repetition of an attempt that ended here has the same record.
      await recording?.alone(answer, attempt);
      return answer;
    };
    return keyed ? idempotency.attempt(keyed, work) : work(newUuid());
  }
  if (!runTransaction) {
    await recording?.alone();
    return handle(input as never);
  }
  const gathering: typeof runTransaction = outbox
    ? (inTransaction) => runTransaction((tx) => outbox.gather(tx, () => inTransaction(tx)))
    : runTransaction;
  const work = (run = gathering) => handle(input as never, { runTransaction: run, record: recording?.inside });
  const answer = await (keyed ? idempotency.once(keyed, gathering, work) : work());
  return renew ? renew(answer) : answer;
}

/** How a request is recorded, if it is. The service that keeps the audit log writes the records of its endpoints itself. */
function recordingOf(contract: Endpoint, input: Handled, recorder: AuditRecorder | undefined) {
  const { caller, params, body, request } = input;
  if (!recorder || !isRecorded(contract) || contract.service === auditKeeper || !isPrincipal(caller)) return;
  const done: RecordedRequest = { contract, caller, params, body, request };
  return {
    inside: (tx: SqlTransaction, result: unknown, note: AuditNote) => recorder.record(tx, done, result, note),
    alone: (result?: unknown, id?: string) => recorder.recordAlone(done, result, id),
  };
}

/** The caller. Throws if the contract does not allow this kind of caller. */
function admit(
  contract: Endpoint,
  { headers: { authorization } }: Request,
  { verifier, internal }: Pick<AppOptions, 'verifier' | 'internal'>,
  locals: Locals,
): Caller {
  const { credential } = contract.access;
  if (credential === 'internal') {
    const service = internal.verify(authorization);
    const refused = refuseCaller(contract, service);
    if (refused) throw refused;
    return service;
  }
  if (credential === 'device') {
    const device = internal.verifyDevice(authorization);
    locals.caller = device;
    return device;
  }
  if (credential === 'factory') return undefined;
  if (credential === 'none' || (credential === 'optional' && authorization === undefined)) return undefined;
  const caller = verifier.authenticate(authorization);
  locals.caller = caller;
  const refused = refuseAccess(contract, caller);
  if (refused) throw refused;
  return caller;
}

/** A malformed id gets the same response as an unknown one, so that a response reveals nothing about ids. */
function readParams(contract: Endpoint, params: Request['params']): unknown {
  if (!contract.params) return undefined;
  const parsed = contract.params.safeParse(params);
  if (!parsed.success) throw Problem.notFound();
  return parsed.data;
}

function checkAnswer(operation: string, schema: ZodType, body: unknown): void {
  const wire: unknown = JSON.parse(JSON.stringify(body));
  const parsed = schema.safeParse(wire);
  if (!parsed.success) throw new Error(`${operation} answers against its contract: ${parsed.error.message}`);
  if (!isDeepStrictEqual(parsed.data, wire))
    throw new Error(`${operation} answers fields that its contract does not have`);
}
