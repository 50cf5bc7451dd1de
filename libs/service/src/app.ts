import { isDeepStrictEqual } from 'node:util';
import { type InternalVerifier, type Principal, refuseAccess, refuseCaller, type Verifier } from '@attribution/auth';
import { type Endpoint, Problem, type ServiceName } from '@attribution/contracts';
import {
  answeredStatus,
  type Download,
  givenTraceparent,
  type HttpMetrics,
  problemOf,
  queryOf,
  type RequestContext,
  readBytes,
  readJsonBody,
  receiveUpload,
  requestContext,
  requestRecorder,
  sendDownload,
  validate,
  writeProblem,
} from '@attribution/http';
import { newUuid } from '@attribution/ids';
import { inTrace, noTracing, type Span, type Tracing, traceFields } from '@attribution/tracing';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { type Idempotency, idempotencyKeyOf, type KeyedRequest } from './idempotency.ts';
import type { Implementation } from './implement.ts';

export interface AppOptions {
  readonly implementations: readonly Implementation[];
  readonly verifier: Verifier;
  readonly verifyInternal: InternalVerifier;
  readonly idempotency: Idempotency;
  readonly logger: Logger;
  readonly problemBase: string;
  readonly metrics: HttpMetrics;
  /** Default: no spans are recorded. */
  readonly tracing?: Tracing;
  /** Whether to check every response against its contract, as in development and tests. A mismatch is a bug: 503. */
  readonly checkAnswers: boolean;
}

interface Locals {
  context: RequestContext;
  /** The contract that matched; absent for unknown paths. */
  contract?: Endpoint;
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
export function closeApp(app: Express, { logger, problemBase }: Pick<AppOptions, 'logger' | 'problemBase'>): void {
  app.use(() => {
    throw Problem.notFound();
  });
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    const malformedUrl = error instanceof URIError ? Problem.notFound() : undefined;
    const problem = malformedUrl ?? problemOf(error);
    const { context, span } = res.locals as Locals;
    if (problem.kind === 'unavailable') {
      span?.set({ 'error.type': error instanceof Error ? error.name : 'unknown' });
      logger.error({ err: error, request_id: context?.id, ...traceFields(context) }, 'A request failed');
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
        trace: locals.context,
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
    const span = tracing.begin(name, 'server', givenTraceparent(req), about);
    if (span) {
      const { id, ip, userAgent } = locals.context;
      span.set({ request_id: id });
      locals.span = span;
      locals.context = { id, ip, userAgent, traceparent: span.traceparent, recorded: true };
    }
    return inTrace(locals.context, () => fulfil(req, res));
  };
}

function fulfilling(implementation: Implementation, options: AppOptions) {
  const { contract, refuse } = implementation;
  return async (req: Request, res: Response): Promise<void> => {
    const locals = res.locals as Locals;
    const caller = admit(contract, req, options);
    refuse?.(caller as never);
    const asked = {
      params: readParams(contract, req.params),
      query: contract.query && validate(contract.query, queryOf(req.url), 'query'),
      headers: contract.headers && validate(contract.headers, req.headers, 'headers'),
      caller,
      request: locals.context,
    };
    const key = idempotencyKeyOf(contract, req.headers['idempotency-key']);
    const body = contract.body && validate(contract.body, await readJsonBody(req, res), 'body');
    const bytes = contract.raw && (await readBytes(req, res));
    const upload = contract.upload && (await receiveUpload(contract.upload, req));
    const input = { ...asked, body, bytes, upload };
    const sent = upload ? { media: upload.media, digest: upload.digest } : body;
    const { params, query } = asked;
    const keyed =
      key && typeof caller === 'object'
        ? { contract, key, accountId: caller.accountId, callerId: caller.id, input: [params, query, sent] }
        : undefined;
    const handled = handleOnce(implementation, keyed, options.idempotency, input);
    const answered = await (upload ? handled.finally(() => upload.close()) : handled);
    await writeAnswer(contract, answered, res, options);
  };
}

async function writeAnswer(
  contract: Endpoint,
  answered: unknown,
  res: Response,
  { checkAnswers }: Pick<AppOptions, 'checkAnswers'>,
): Promise<void> {
  const { status, body, download } = contract.success;
  res.statusCode = status;
  res.setHeader('cache-control', 'no-store');
  if (download) return sendDownload(download, answered as Download, res);
  if (!body) {
    res.end();
    return;
  }
  if (checkAnswers) checkAnswer(contract, answered);
  const text = JSON.stringify(answered);
  res.setHeader('content-type', 'application/json; charset=utf-8');
  res.setHeader('content-length', Buffer.byteLength(text));
  res.end(text);
}

/** Handles a request. With an idempotency key it is handled once, however often it is repeated. */
async function handleOnce(
  { contract, handle, runTransaction }: Implementation,
  keyed: KeyedRequest | undefined,
  idempotency: Idempotency,
  input: object,
): Promise<unknown> {
  if (contract.external) {
    const work = (attempt: string) => handle({ ...input, attempt } as never);
    return keyed ? idempotency.attempt(keyed, work) : work(newUuid());
  }
  const work = (run = runTransaction) => handle(input as never, run);
  return keyed && runTransaction ? idempotency.once(keyed, runTransaction, work) : work();
}

/** The caller. Throws if the contract does not allow this kind of caller. */
function admit(
  contract: Endpoint,
  { headers: { authorization } }: Request,
  { verifier, verifyInternal }: Pick<AppOptions, 'verifier' | 'verifyInternal'>,
): Principal | ServiceName | undefined {
  const { credential } = contract.access;
  if (credential === 'internal') {
    const service = verifyInternal(authorization);
    const refused = refuseCaller(contract, service);
    if (refused) throw refused;
    return service;
  }
  if (credential === 'none' || (credential === 'optional' && authorization === undefined)) return undefined;
  const caller = verifier.authenticate(authorization);
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

function checkAnswer(contract: Endpoint, body: unknown): void {
  const schema = contract.success.body;
  if (!schema) return;
  const wire: unknown = JSON.parse(JSON.stringify(body));
  const parsed = schema.safeParse(wire);
  if (!parsed.success) throw new Error(`${contract.operation} answers against its contract: ${parsed.error.message}`);
  if (!isDeepStrictEqual(parsed.data, wire))
    throw new Error(`${contract.operation} answers fields that its contract does not have`);
}
