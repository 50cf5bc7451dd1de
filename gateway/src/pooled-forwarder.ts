import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@attribution/contracts';
import { type Dispatcher, Pool } from 'undici';
import { answerHeaders, type HeaderList } from './answer-headers.ts';
import type { Headers } from './forward-headers.ts';
import { type ForwarderOptions, keepUnused } from './forwarder-options.ts';

interface Passing {
  readonly onAnswer: (status: number) => void;
  readonly own: HeaderList;
  /** All of it; null where none was announced. */
  readonly body: Buffer | null;
}

interface PooledForwarder {
  /** As `Forwarder` has it. */
  forward(service: ServiceName, req: IncomingMessage, res: ServerResponse, passing: Passing): Promise<void>;
  close(): void;
}

/** By undici's dispatch: no stream and no promise in between. Nothing is ever sent twice. */
export function createPooledForwarder({ upstreams, timeout }: ForwarderOptions): PooledForwarder {
  // Without a bound on connections: a service that hangs would make everybody else wait for one.
  const settings = {
    headersTimeout: timeout,
    bodyTimeout: timeout,
    connectTimeout: timeout,
    keepAliveTimeout: keepUnused,
    keepAliveMaxTimeout: keepUnused,
    allowH2: false,
  };
  const pools = new Map(Object.entries(upstreams).map(([service, url]) => [service, new Pool(url, settings)]));
  return {
    forward(service, req, res, { onAnswer, own, body }) {
      const pool = pools.get(service);
      if (!pool) return Promise.reject(new Error(`No upstream for ${service}`));
      if (res.closed) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const { url: path = '/', method = 'GET' } = req;
        const headers = body === null ? req.headers : framedAnew(req.headers);
        const exchange = new Exchange({ res, onAnswer, own, timeout, resolve, reject });
        pool.dispatch({ path, method, headers, body }, exchange);
      });
    },
    close() {
      for (const pool of pools.values()) pool.destroy().catch(() => {});
    },
  };
}

/** The length is undici's to say, of a body that came in chunks too. */
function framedAnew({ 'transfer-encoding': _, 'content-length': __, ...headers }: Headers): Headers {
  return headers;
}

interface ExchangeParts {
  readonly res: ServerResponse;
  readonly onAnswer: Passing['onAnswer'];
  readonly own: HeaderList;
  readonly timeout: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Up to this many bytes an answer that is there at once is written together with its head. */
const maxTogether = 16_384;

/** One request and its answer. A class, as one is made for each request. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly parts: ExchangeParts;
  private controller: Dispatcher.DispatchController | undefined;
  private interimSince: number | undefined;
  private length = -1;
  private whole: Buffer | undefined;

  constructor(parts: ExchangeParts) {
    this.parts = parts;
    parts.res.on('close', () => {
      if (!parts.res.writableFinished) this.controller?.abort(new Error('The client has gone'));
      parts.resolve();
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.parts.res.closed) controller.abort(new Error('The client has gone'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    const { res, onAnswer, own, timeout } = this.parts;
    if (status < 200) {
      // Each is a sign of life; without an end they would be one for ever.
      this.interimSince ??= performance.now();
      if (performance.now() - this.interimSince > timeout)
        controller.abort(new Error('The upstream did not answer in time'));
      return;
    }
    const { 'content-length': length } = headers;
    if (typeof length === 'string') this.length = Number(length);
    res.writeHead(status, answerHeaders(headers, own));
    onAnswer(status);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { res } = this.parts;
    if (chunk.length === this.length && this.length <= maxTogether) {
      this.whole = chunk; // The end comes at once.
    } else if (!res.write(chunk)) {
      controller.pause();
      res.once('drain', () => controller.resume());
    }
  }

  onResponseEnd(): void {
    // As text: head and body are one string then, and one write. Latin-1 keeps each byte as it is.
    if (this.whole) this.parts.res.end(this.whole.toString('latin1'), 'latin1');
    else this.parts.res.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { res, resolve, reject } = this.parts;
    if (res.closed || res.req.socket.destroyed) resolve();
    else reject(error);
  }
}
