import { constants } from 'node:crypto';
import type { ServerOptions } from 'node:https';

/** What a server with TLS shows its clients, and whose certificates of clients it knows. */
export interface TlsServing {
  /** Its certificate and those below the root, and its private key, as PEM. */
  readonly cert: string;
  readonly key: string;
  /** The authorities of clients, as PEM. A client may come without a certificate, or with one of somebody else. */
  readonly clientAuthorities: readonly string[];
  /** Milliseconds that a handshake may take. */
  readonly handshakeTimeoutMs: number;
  /** Called for each connection that has not become a TLS connection. */
  onFailedHandshake(): void;
}

/** How long a client may resume a session, in seconds. */
const sessionSeconds = 300;

/** TLS 1.2 and 1.3, and HTTP/1.1 above it. The handler judges a client's certificate: `socket.authorized`. */
export const tlsOptions = ({ cert, key, clientAuthorities, handshakeTimeoutMs }: TlsServing): ServerOptions => ({
  cert,
  key,
  ca: [...clientAuthorities],
  requestCert: true,
  rejectUnauthorized: false,
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  ALPNProtocols: ['http/1.1'],
  handshakeTimeout: handshakeTimeoutMs,
  sessionTimeout: sessionSeconds,
  // A connection stays that of the certificate that it began with.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
});
