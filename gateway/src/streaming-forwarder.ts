import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@attribution/contracts';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { answerHeaders, type HeaderList } from './answer-headers.ts';
import { type ForwarderOptions, keepUnused } from './forwarder-options.ts';
import { KeepingAgent } from './keeping-agent.ts';

interface Passing {
  readonly onAnswer: (status: number) => void;
  readonly own: HeaderList;
}

interface StreamingForwarder {
  /** As `Forwarder` has it. */
  forward(service: ServiceName, req: IncomingMessage, res: ServerResponse, passing: Passing): Promise<void>;
  close(): void;
}

interface Exchange extends Passing {
  answered: boolean;
  readonly fail: (error: Error) => void;
}

/** By http-proxy-middleware, without its default plugins: they cost, and their error answer tells hosts (ADR 0006). */
export function createStreamingForwarder({ upstreams, timeout }: ForwarderOptions): StreamingForwarder {
  // The agent's timeout holds while connecting too; the proxy's own begins with the connection.
  const agent = new KeepingAgent({ timeout, keepUnused });
  const exchanges = new WeakMap<IncomingMessage, Exchange>();

  const proxies = Object.entries(upstreams).map(([service, url]) => {
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
            let patience: NodeJS.Timeout | undefined;
            // Headers or 1xx answers without an end are signs of life for ever.
            onward.once('finish', () => {
              if (exchange?.answered) return;
              patience = setTimeout(() => onward.destroy(new Error('The upstream did not answer in time')), timeout);
            });
            onward.once('response', () => clearTimeout(patience));
            // Without an error too, as after an upgrade that nobody asked for.
            onward.once('close', () => {
              clearTimeout(patience);
              drain(req, onward);
              if (!exchange?.answered) exchange?.fail(new Error('The upstream closed without an answer'));
            });
          });
        },
      ],
    });
    return [service, proxy] as const;
  });
  const byService = new Map(proxies as [ServiceName, (typeof proxies)[number][1]][]);

  return {
    forward(service, req, res, passing) {
      const proxy = byService.get(service);
      if (!proxy) return Promise.reject(new Error(`No upstream for ${service}`));
      return new Promise((resolve, reject) => {
        const fail = (error: Error) => (req.socket.destroyed ? resolve() : reject(error));
        exchanges.set(req, { ...passing, answered: false, fail });
        res.once('close', resolve);
        proxy(req, res, (error) => (error ? fail(error as Error) : undefined)).catch(fail);
      });
    },
    close: () => agent.destroy(),
  };
}

/** What is left of a body that nobody takes any more is read all the same: behind it comes the next request. */
function drain(req: IncomingMessage, onward: ClientRequest): void {
  if (req.complete) return;
  req.unpipe(onward); // It pauses, and would do so after Node has begun to read the rest by itself.
  req.resume();
}

function passBack(answer: IncomingMessage, res: ServerResponse, exchange: Exchange): void {
  const status = answer.statusCode ?? 0;
  try {
    res.writeHead(status, answerHeaders(answer.headers, exchange.own));
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
