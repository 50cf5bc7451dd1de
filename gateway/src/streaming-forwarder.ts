import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@attribution/contracts';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { type ForwarderOptions, idleConnectionMs } from './forwarder-options.ts';
import { KeepAliveAgent } from './keep-alive-agent.ts';
import { type HeaderList, responseHeaders } from './response-headers.ts';

interface ForwardOptions {
  readonly onResponse: (status: number) => void;
  readonly gatewayHeaders: HeaderList;
}

interface StreamingForwarder {
  /** Resolves and rejects as `Forwarder.forward` does. */
  forward(service: ServiceName, req: IncomingMessage, res: ServerResponse, options: ForwardOptions): Promise<void>;
  close(): void;
}

interface Exchange extends ForwardOptions {
  responded: boolean;
  readonly fail: (error: Error) => void;
}

/** Forwards through http-proxy-middleware without its default plugins, which are slow and name hosts in error responses (ADR 0006). */
export function createStreamingForwarder({ upstreams, timeoutMs }: ForwarderOptions): StreamingForwarder {
  const agent = new KeepAliveAgent({ timeoutMs, idleMs: idleConnectionMs });
  const exchanges = new WeakMap<IncomingMessage, Exchange>();

  const proxies = Object.entries(upstreams).map(([service, url]) => {
    const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
      target: new URL(url) as never,
      agent,
      selfHandleResponse: true,
      ejectPlugins: true,
      plugins: [
        (server) => {
          server.on('proxyRes', (response, req, res) => {
            const exchange = exchanges.get(req);
            if (exchange) passBack(response, res, exchange);
          });
          server.on('error', (error, req) => req && exchanges.get(req)?.fail(error));
          server.on('econnreset', (error, req) => exchanges.get(req)?.fail(error));
          server.on('proxyReq', (onward, req) => {
            const exchange = exchanges.get(req);
            let timer: NodeJS.Timeout | undefined;
            // The agent's timeout, which includes connecting. The gateway's server ends requests that do not arrive.
            onward.on('timeout', () => {
              if (!waitsForClient(req, onward)) onward.destroy(new Error('The upstream was silent for too long'));
            });
            // Endless headers or 1xx responses restart the other timeouts, so this one limits the wait for the response.
            onward.once('finish', () => {
              if (exchange?.responded) return;
              timer = setTimeout(() => onward.destroy(new Error('The upstream did not answer in time')), timeoutMs);
            });
            onward.once('response', () => clearTimeout(timer));
            // A connection may close without an error, for instance after an unrequested upgrade.
            onward.once('close', () => {
              clearTimeout(timer);
              drain(req, onward);
              if (!exchange?.responded) exchange?.fail(new Error('The upstream closed without a response'));
            });
          });
        },
      ],
    });
    return [service, proxy] as const;
  });
  const byService = new Map(proxies as [ServiceName, (typeof proxies)[number][1]][]);

  return {
    forward(service, req, res, options) {
      const proxy = byService.get(service);
      if (!proxy) return Promise.reject(new Error(`No upstream for ${service}`));
      return new Promise((resolve, reject) => {
        // A socket that this side has ended is that of a client whose request was refused meanwhile.
        const fail = (error: Error) => (req.socket.writable ? reject(error) : resolve());
        exchanges.set(req, { ...options, responded: false, fail });
        res.once('close', resolve);
        proxy(req, res, (error) => (error ? fail(error as Error) : undefined)).catch(fail);
      });
    },
    close: () => agent.destroy(),
  };
}

/** Whether the upstream has taken all that has arrived of a body, so that it is silent because its client is. */
const waitsForClient = (req: IncomingMessage, onward: ClientRequest): boolean =>
  !req.complete && req.readableLength === 0 && onward.writableLength === 0 && onward.socket?.connecting === false;

/** Reads and discards the rest of a body that is no longer forwarded: the next request follows it on the connection. */
function drain(req: IncomingMessage, onward: ClientRequest): void {
  if (req.complete) return;
  req.unpipe(onward); // Unpiping pauses the request, so it has to come before `resume`.
  req.resume();
}

function passBack(response: IncomingMessage, res: ServerResponse, exchange: Exchange): void {
  const status = response.statusCode ?? 0;
  try {
    res.writeHead(status, responseHeaders(status, response.headers, exchange.gatewayHeaders));
  } catch (error) {
    exchange.fail(error as Error); // `writeHead` throws for a status below 100.
    return;
  }
  exchange.responded = true;
  exchange.onResponse(status);
  response.once('error', exchange.fail);
  response.once(
    'close',
    () => response.complete || exchange.fail(new Error('The upstream closed in the middle of its response')),
  );
  response.pipe(res);
}
