import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';

/** A response, its body read to the end. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** From sending to the first byte of the response, in milliseconds. */
  readonly roundTripMs: number;
}

/** What a device shows in TLS: its certificate with the issuing authority behind it, and its key, as PEM. */
export interface ClientIdentity {
  readonly cert: string;
  readonly key: string;
}

export interface WireOptions {
  /** `https://ingress.example:8443` */
  readonly url: string;
  /** The roots that the ingress is checked against, as PEM; undefined: those of the machine. */
  readonly ca?: string | undefined;
  readonly identity?: ClientIdentity | undefined;
  /** The address of this machine to connect from. */
  readonly localAddress?: string | undefined;
  readonly timeoutMs: number;
}

/** A connection to the ingress that is kept while it is used. Its identity never changes. */
export interface Wire {
  send(method: 'GET' | 'POST' | 'PUT', path: string, body?: string, headers?: Record<string, string>): Promise<Reply>;
  close(): void;
}

/** No response of the ingress is larger. */
const maxBodyBytes = 4 * 1024 * 1024;

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBodyBytes) throw new Error('The response is too large');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

export function openWire({ url, ca, identity, localAddress, timeoutMs }: WireOptions): Wire {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...identity, ...(ca !== undefined && { ca }) });
  return {
    send: (method, path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const began = performance.now();
        const req = request({
          ...{ hostname, port, agent, method, path },
          ...(localAddress !== undefined && { localAddress }),
          headers: {
            ...(body !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
            }),
            ...headers,
          },
          signal: AbortSignal.timeout(timeoutMs), // In all, however slowly the bytes come.
        });
        req.on('error', reject);
        req.on('response', (response) => {
          const roundTripMs = performance.now() - began;
          bodyOf(response).then(
            (read) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read, roundTripMs }),
            reject,
          );
        });
        req.end(body);
      }),
    close: () => agent.destroy(),
  };
}
