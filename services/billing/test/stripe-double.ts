import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStripeProvider, type StripeProviderOptions } from '../src/provider/stripe/index.ts';

export const SECRET_KEY = 'sk_test_51NeverInALogOrMessage0123456789';

export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The form, or the query of a GET. */
  readonly params: Readonly<Record<string, string>>;
}

export type Answer = (asked: Asked, response: ServerResponse) => void;

/** A stand-in for api.stripe.com: responds as the test says, and records the requests. */
export async function startStripeDouble(answer: Answer) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { pathname, search, searchParams } = new URL(request.url ?? '', 'http://stripe');
    const params = Object.fromEntries(request.method === 'GET' ? searchParams : new URLSearchParams(body));
    const one = { method: request.method ?? '', path: pathname + search, headers: request.headers, params };
    asked.push(one);
    answer(one, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const apiBase = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    provider: (options: Partial<StripeProviderOptions> = {}) =>
      createStripeProvider({ secretKey: SECRET_KEY, webhookSecrets: [], apiBase, ...options }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type StripeDouble = Awaited<ReturnType<typeof startStripeDouble>>;

export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1', ...headers });
  response.end(JSON.stringify(body));
}

/** As Stripe says that something is wrong. */
export const fault = (error: Record<string, unknown>) => ({ error: { message: 'Something is wrong.', ...error } });

export const list = (data: readonly unknown[], has_more = false) => ({ object: 'list', data, has_more, url: '/v1/x' });
