import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceName } from '@attribution/contracts';
import type { ForwarderOptions } from './forwarder-options.ts';
import { createPooledForwarder } from './pooled-forwarder.ts';
import type { HeaderList } from './response-headers.ts';
import { createStreamingForwarder } from './streaming-forwarder.ts';

/** Forwards requests with their bodies unchanged. Only this module and its two implementations know how, so they can be replaced. */
export interface Forwarder {
  /**
   * Resolves when the response has been passed back, or the client has disconnected. Rejects when the service fails,
   * also in the middle of its response. `onResponse` is called with the status before the response is passed back.
   * `body` is the request's body if it has been read already. `gatewayHeaders` are added to the response and replace the service's headers of the same names.
   */
  forward(
    service: ServiceName,
    req: IncomingMessage,
    res: ServerResponse,
    onResponse: (status: number) => void,
    gatewayHeaders?: HeaderList,
    body?: Buffer,
  ): Promise<void>;
  close(): void;
}

/** Requests that have arrived completely go through undici, those whose body is still arriving through http-proxy-middleware (ADR 0008). */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const pooled = createPooledForwarder(options);
  const streaming = createStreamingForwarder(options);

  async function forwardBody(
    service: ServiceName,
    req: IncomingMessage,
    res: ServerResponse,
    { onResponse, gatewayHeaders }: { onResponse: (status: number) => void; gatewayHeaders: HeaderList },
  ) {
    if (!(await bodyArrives(req))) return streaming.forward(service, req, res, { onResponse, gatewayHeaders });
    // Without a length, `read` returns the first piece alone. A chunked body may be empty: it is forwarded as a body, because
    // its framing headers are.
    const body = (req.read(req.readableLength) as Buffer | null) ?? Buffer.alloc(0);
    return pooled.forward(service, req, res, { onResponse, gatewayHeaders, body });
  }

  return {
    forward(service, req, res, onResponse, gatewayHeaders = [], body?) {
      if (body === undefined && announcesBody(req))
        return forwardBody(service, req, res, { onResponse, gatewayHeaders });
      return pooled.forward(service, req, res, { onResponse, gatewayHeaders, body: body ?? null });
    },
    close() {
      pooled.close();
      streaming.close();
    },
  };
}

/** Whether a request has a body, as its headers say. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Whether all of a body has arrived, or arrives together with the head. */
export async function bodyArrives(req: IncomingMessage): Promise<boolean> {
  await Promise.resolve(); // By then Node has parsed the part of the body that arrived together with the head.
  return req.complete || req.readableLength === Number(req.headers['content-length']);
}
