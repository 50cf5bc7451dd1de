import { request } from 'node:http';
import { createVerifier } from '@attribution/auth';
import { type Endpoint, id, type ProblemDetails, pageQuery, problemKindOf } from '@attribution/contracts';
import { createByteBudget, listen, observeHttp } from '@attribution/http';
import { captureLogs, problemBase, testInternal, testKeys } from '@attribution/testing';
import type { Tracing } from '@attribution/tracing';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { closeApp, createApp } from '../src/app.ts';
import { createFileBudget } from '../src/file-budget.ts';
import type { Implementation } from '../src/implement.ts';
import { implement } from '../src/index.ts';
import { createCallerTurns } from '../src/turns.ts';

const defaults = {
  operation: 'probe',
  service: 'campaign',
  summary: 'A probe',
  access: { credential: 'none' },
  success: { status: 204, description: 'Done' },
} as const satisfies Partial<Endpoint>;

type Declared<E> = Omit<typeof defaults, keyof E> & E;

/** Declares an endpoint for these tests. Properties that a test does not care about have defaults. */
export function declare<const E extends Partial<Endpoint> & Pick<Endpoint, 'method' | 'path'>>(definition: E) {
  return { ...defaults, ...definition } as unknown as Declared<E>;
}

export const thingId = z.object({ id: id('campaign') });

/** Responds with the body that the handler received. */
export const echoBody = (body: z.ZodType) =>
  implement(
    declare({
      method: 'POST',
      path: '/v2/echo',
      body,
      max_body_bytes: 1024 * 1024,
      success: { status: 200, description: '', body: z.object({ given: z.unknown() }) },
    }),
    async (input) => ({ given: input.body }),
  );

/** Responds with the query that the handler received: the parameters of a page, and a name. */
export const echoQuery = implement(
  declare({
    method: 'GET',
    path: '/v2/echo',
    query: z.object({ ...pageQuery, name: z.string().max(20, 'must be short').optional() }),
    success: { status: 200, description: '', body: z.object({ given: z.unknown() }) },
  }),
  async (input) => ({ given: input.query }),
);

/** An app on its own port. */
export async function startApp(
  implementations: readonly Implementation[],
  options: { checkAnswers?: boolean; tracing?: Tracing; bodyBudget?: number; fileBudget?: number } = {},
) {
  const logs = captureLogs();
  const { logger } = logs;
  const registry = new Registry();
  const metrics = observeHttp(registry, 'probe');
  const verifier = createVerifier(testKeys.public);
  const bodies = createByteBudget({ limit: options.bodyBudget ?? 64 * 1024 * 1024 });
  const files = createFileBudget(options.fileBudget ?? 64 * 1024 * 1024);
  const app = createApp({
    bodies,
    files,
    turns: createCallerTurns(registry, 'probe'),
    implementations,
    verifier,
    internal: testInternal('organization'),
    idempotency: {
      once: (_request, runTransaction, work) => work(runTransaction),
      attempt: (_request, work) => work(''),
      knows: async () => false,
    },
    logger,
    problemBase,
    metrics,
    checkAnswers: options.checkAnswers ?? true,
    ...(options.tracing && { tracing: options.tracing }),
  });
  closeApp(app, { logger, problemBase });
  const server = await listen(app, { host: '127.0.0.1', port: 0, problemBase });
  return {
    port: server.port,
    logs,
    registry,
    bodies,
    files,
    send: (path: string, sent?: Sent) => send(server.port, path, sent),
    stop: () => server.close(Date.now() + 2_000),
  };
}
export type App = Awaited<ReturnType<typeof startApp>>;

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  /** Sends the body without a content length. */
  readonly chunked?: boolean;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a request unchanged: the path is not normalized, and a GET may have a body. */
export async function send(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, chunked }: Sent = {},
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const length = body !== undefined && !chunked ? { 'content-length': String(Buffer.byteLength(body)) } : {};
    const req = request(
      { port, host: '127.0.0.1', path, method, headers: { ...headers, ...length }, agent: false },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () =>
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text: Buffer.concat(chunks).toString() }),
        );
      },
    );
    req.on('error', reject);
    if (chunked && body !== undefined) req.write(body);
    req.end(chunked ? undefined : body);
  });
}

export const json = { 'content-type': 'application/json' };

/** The problem in a response. */
export function problemOf({ status, headers, text }: Answered): {
  status: number;
  kind: string;
  detail: string;
  media: unknown;
} {
  const problem = JSON.parse(text) as ProblemDetails;
  return { status, kind: problemKindOf(problem), detail: problem.detail, media: headers['content-type'] };
}

/** A 400 in the shape of `problemOf`. */
export const invalid = (detail: string) => ({
  status: 400,
  kind: 'validation-error',
  detail,
  media: 'application/problem+json',
});
