import { Agent, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ServiceName } from '@attribution/contracts';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { connectionOptions } from './forward-headers.ts';

/** Passes requests on, bodies streamed and untouched. The one module that knows how: another can take its place. */
export interface Forwarder {
  /**
   * Resolves when the answer has been passed back, or the client has gone; rejects when the service fails, be it in
   * the middle of its answer. `onAnswer` is told the status before the answer is passed back.
   */
  forward(
    service: ServiceName,
    req: IncomingMessage,
    res: ServerResponse,
    onAnswer: (status: number) => void,
  ): Promise<void>;
  close(): void;
}

interface Exchange {
  answered: boolean;
  readonly onAnswer: (status: number) => void;
  readonly fail: (error: Error) => void;
}

/** What a service says of its own connection, or about itself, is not the client's. */
const droppedFromAnswers = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-powered-by',
  'server',
]);

/** Who may read an answer (CORS) is the gateway's to say; what services tell each other is nobody else's. */
const ownPrefixes = ['access-control-', 'x-internal-'];

/** By http-proxy-middleware, without its default plugins: they cost, and their error answer tells hosts (ADR 0006). */
export function createForwarder(options: {
  upstreams: Partial<Record<ServiceName, string>>;
  /** Milliseconds without a sign of life until an upstream is given up. */
  timeout: number;
}): Forwarder {
  const { timeout } = options;
  // The agent's timeout holds while connecting too; the proxy's own begins with the connection.
  const agent = new Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 64, scheduling: 'lifo', timeout });
  const exchanges = new WeakMap<IncomingMessage, Exchange>();

  const proxies = Object.entries(options.upstreams).map(([service, url]) => {
    const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
      target: new URL(url) as never,
      agent,
      proxyTimeout: timeout,
      selfHandleResponse: true,
      ejectPlugins: true,
      plugins: [
        (server) => {
          server.on('proxyRes', (answer, req, res) => {
            const exchange = exchanges.get(req);
            if (exchange) passBack(answer, res, exchange);
          });
          server.on('error', (error, req) => req && exchanges.get(req)?.fail(error));
          server.on('econnreset', (error, req) => exchanges.get(req)?.fail(error));
          server.on('proxyReq', (onward, req) => {
            const exchange = exchanges.get(req);
            // Without an error too, as after an upgrade that nobody asked for.
            onward.once(
              'close',
              () => exchange?.answered || exchange?.fail(new Error('The upstream closed without an answer')),
            );
          });
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
        const fail = (error: Error) => (req.socket.destroyed ? resolve() : reject(error));
        exchanges.set(req, { answered: false, onAnswer, fail });
        res.once('close', resolve);
        proxy(req, res, (error) => (error ? fail(error as Error) : undefined)).catch(fail);
      });
    },
    close: () => agent.destroy(),
  };
}

function passBack(answer: IncomingMessage, res: ServerResponse, exchange: Exchange): void {
  const status = answer.statusCode ?? 0;
  try {
    res.writeHead(status, answerHeaders(answer.headers, res));
  } catch (error) {
    exchange.fail(error as Error); // A status that is none.
    return;
  }
  exchange.answered = true;
  exchange.onAnswer(status);
  answer.once('error', exchange.fail);
  answer.once(
    'close',
    () => answer.complete || exchange.fail(new Error('The upstream closed in the middle of its answer')),
  );
  answer.pipe(res);
}

/** What the gateway has said already stands. */
function answerHeaders(headers: IncomingHttpHeaders, res: ServerResponse): IncomingHttpHeaders {
  const listed = connectionOptions(headers);
  const passed: IncomingHttpHeaders = {};
  for (const name in headers) {
    if (droppedFromAnswers.has(name) || ownPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    if (!listed.includes(name) && !res.hasHeader(name)) passed[name] = headers[name];
  }
  return passed;
}
