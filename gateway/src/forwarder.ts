import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@attribution/contracts';
import type { HeaderList } from './answer-headers.ts';
import type { ForwarderOptions } from './forwarder-options.ts';
import { createPooledForwarder } from './pooled-forwarder.ts';
import { createStreamingForwarder } from './streaming-forwarder.ts';

/** Passes requests on, bodies untouched. The one module that knows how: another can take its place. */
export interface Forwarder {
  /**
   * Resolves when the answer has been passed back, or the client has gone; rejects when the service fails, be it in
   * the middle of its answer. `onAnswer` is told the status before the answer is passed back. The answer carries the
   * headers of `own` too; what the service says by the same names is dropped.
   */
  forward(
    service: ServiceName,
    req: IncomingMessage,
    res: ServerResponse,
    onAnswer: (status: number) => void,
    own?: HeaderList,
  ): Promise<void>;
  close(): void;
}

/** By undici what has arrived whole, by http-proxy-middleware what is still arriving (ADR 0008). */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const pooled = createPooledForwarder(options);
  const streaming = createStreamingForwarder(options);

  async function forwardBody(...[service, req, res, onAnswer, own]: Required<Parameters<Forwarder['forward']>>) {
    await Promise.resolve(); // What came along with the head is parsed by then.
    if (!hasArrived(req)) return streaming.forward(service, req, res, { onAnswer, own });
    // Chunks may come to nothing: a body all the same, or its framing would go on without one.
    const body = (req.read() as Buffer | null) ?? Buffer.alloc(0);
    return pooled.forward(service, req, res, { onAnswer, own, body });
  }

  return {
    forward(service, req, res, onAnswer, own = []) {
      return announcesBody(req)
        ? forwardBody(service, req, res, onAnswer, own)
        : pooled.forward(service, req, res, { onAnswer, own, body: null });
    },
    close() {
      pooled.close();
      streaming.close();
    },
  };
}

function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function hasArrived({ headers, readableLength, complete }: IncomingMessage): boolean {
  return complete || readableLength === Number(headers['content-length']);
}
