import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ServiceName } from '@attribution/contracts';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { connectionOptions } from './forward-headers.ts';

/** Passes requests on, bodies streamed and untouched. The one module that knows how: another can take its place. */
export interface Forwarder {
  /** Resolves when the answer has been passed back. `onAnswer` is told the status before it is. */
  forward(service: ServiceName, req: IncomingMessage, res: ServerResponse, onAnswer: (status: number) => void): Promise<void>;
  close(): void;
}

interface Exchange {
  readonly onAnswer: (status: number) => void;
  readonly fail: (error: Error) => void;
}

/** What a service says of its own connection, or about itself, is not the client's. */
const droppedFromAnswers = new Set([
  'keep-alive', 'proxy-connection', 'proxy-authenticate', 'trailer', 'upgrade', 'x-powered-by', 'server',
]); // biome-ignore format: one short list

/** By http-proxy-middleware, without its default plugins: they cost, and their error answer tells hosts (ADR 0006). */
export function createForwarder(options: {
  upstreams: Partial<Record<ServiceName, string>>;
  /** Milliseconds without a sign of life until an upstream is given up. */
  timeout: number;
}): Forwarder {
  const agent = new Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 64, scheduling: 'lifo' });
  const exchanges = new WeakMap<IncomingMessage, Exchange>();

  const proxies = Object.entries(options.upstreams).map(([service, url]) => {
    const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
      target: new URL(url) as never,
      agent,
      proxyTimeout: options.timeout,
      ejectPlugins: true,
      plugins: [
        (server) => {
          server.on('proxyRes', (answer, req, res) => {
            const listed = connectionOptions(answer.headers);
            for (const name in answer.headers) {
              // What the gateway has said already stands.
              if (droppedFromAnswers.has(name) || listed.includes(name) || res.hasHeader(name)) delete answer.headers[name];
            }
            // Ours decides about the client's connection: it says `close` while this process stops.
            answer.headers.connection = String(res.getHeader('connection') ?? (res.shouldKeepAlive ? 'keep-alive' : 'close'));
            exchanges.get(req)?.onAnswer(answer.statusCode ?? 502);
          });
          server.on('error', (error, req) => req && exchanges.get(req)?.fail(error));
          server.on('econnreset', (error, req) => exchanges.get(req)?.fail(error));
        },
      ],
    });
    return [service, proxy] as const;
  });
  const byService = new Map(proxies as [ServiceName, (typeof proxies)[number][1]][]);

  return {
    forward(service, req, res, onAnswer) {
      const proxy = byService.get(service);
      if (!proxy) return Promise.reject(new Error(`No upstream for ${service}`));
      return new Promise((resolve, reject) => {
        exchanges.set(req, { onAnswer, fail: reject });
        res.once('close', resolve);
        proxy(req, res, (error) => (error ? reject(error) : undefined)).catch(reject);
      });
    },
    close: () => agent.destroy(),
  };
}
