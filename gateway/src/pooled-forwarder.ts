import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@attribution/contracts';
import { type Dispatcher, Pool } from 'undici';
import type { Headers } from './forward-headers.ts';
import { type ForwarderOptions, idleConnectionMs } from './forwarder-options.ts';
import { type HeaderList, responseHeaders } from './response-headers.ts';

interface ForwardOptions {
  readonly onResponse: (status: number) => void;
  readonly gatewayHeaders: HeaderList;
  /** The complete body; null if the request announces none. */
  readonly body: Buffer | null;
}

interface PooledForwarder {
  /** Resolves and rejects as `Forwarder.forward` does. */
  forward(service: ServiceName, req: IncomingMessage, res: ServerResponse, options: ForwardOptions): Promise<void>;
  close(): void;
}

/** Forwards through undici's `dispatch`, without a stream or a promise in between. A request is never sent twice. */
export function createPooledForwarder({ upstreams, timeoutMs }: ForwarderOptions): PooledForwarder {
  // The number of connections is not limited: a service that hangs would make all other requests wait.
  const settings = {
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
    allowH2: false,
  };
  const pools = new Map(Object.entries(upstreams).map(([service, url]) => [service, new Pool(url, settings)]));
  return {
    forward(service, req, res, { onResponse, gatewayHeaders, body }) {
      const pool = pools.get(service);
      if (!pool) return Promise.reject(new Error(`No upstream for ${service}`));
      if (res.closed) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const { url: path = '/', method = 'GET' } = req;
        const headers = body === null ? req.headers : withoutFraming(req.headers);
        const exchange = new Exchange({ res, onResponse, gatewayHeaders, timeoutMs, resolve, reject });
        pool.dispatch({ path, method, headers, body }, exchange);
      });
    },
    close() {
      for (const pool of pools.values()) pool.destroy().catch(() => {});
    },
  };
}

/** The body is complete, so undici sets its length, also if it came in chunks. */
function withoutFraming({ 'transfer-encoding': _, 'content-length': __, ...headers }: Headers): Headers {
  return headers;
}

interface ExchangeOptions {
  readonly res: ServerResponse;
  readonly onResponse: ForwardOptions['onResponse'];
  readonly gatewayHeaders: HeaderList;
  readonly timeoutMs: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A body of at most this many bytes that arrives in one piece is written together with the head. */
const maxSingleWriteBytes = 16_384;

/** One request and its response. A class, because one is created for each request. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly options: ExchangeOptions;
  private controller: Dispatcher.DispatchController | undefined;
  private firstInterimAt: number | undefined;
  private contentLength = -1;
  private completeBody: Buffer | undefined;

  constructor(options: ExchangeOptions) {
    this.options = options;
    const { res, resolve } = options;
    res.on('close', () => {
      if (!res.writableFinished) this.controller?.abort(new Error('The client has disconnected'));
      resolve();
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.options.res.closed) controller.abort(new Error('The client has disconnected'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    const { res, onResponse, gatewayHeaders, timeoutMs } = this.options;
    if (status < 200) {
      // Each 1xx response restarts undici's timeout, so a service that sends them endlessly is stopped here.
      this.firstInterimAt ??= performance.now();
      if (performance.now() - this.firstInterimAt > timeoutMs)
        controller.abort(new Error('The upstream did not answer in time'));
      return;
    }
    const { 'content-length': length } = headers;
    if (typeof length === 'string') this.contentLength = Number(length);
    res.writeHead(status, responseHeaders(status, headers, gatewayHeaders));
    onResponse(status);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { res } = this.options;
    if (chunk.length === this.contentLength && this.contentLength <= maxSingleWriteBytes) {
      this.completeBody = chunk; // `onResponseEnd` follows immediately, and writes it.
    } else if (!res.write(chunk)) {
      controller.pause();
      res.once('drain', () => controller.resume());
    }
  }

  onResponseEnd(): void {
    // Node joins a head and a body that are both strings into one write. Latin-1 preserves every byte.
    if (this.completeBody) this.options.res.end(this.completeBody.toString('latin1'), 'latin1');
    else this.options.res.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { res, resolve, reject } = this.options;
    if (res.closed || res.req.socket.destroyed) resolve();
    else reject(error);
  }
}
