import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Why a certificate is refused whatever the Device service would say. */
export type CertificateFault = 'none' | 'untrusted' | 'expired';

interface Shown {
  /** SHA-256 of the DER, 64 lower-case hex digits; undefined without a certificate. */
  readonly fingerprint: string | undefined;
  /** Whether its chain leads to our authority, and it is one for clients, as TLS has judged at the handshake. */
  readonly trusted: boolean;
  /** In milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

/** A connection shows one certificate for as long as it lives, because there is no renegotiation. */
const shownOn = new WeakMap<Socket, Shown>();

/** A session that was resumed has the certificate that it began with, and TLS does not judge it again. */
function shownBy(socket: Socket): Shown {
  const known = shownOn.get(socket);
  if (known) return known;
  const { authorized } = socket as TLSSocket;
  const certificate = (socket as TLSSocket).getPeerX509Certificate?.();
  const shown: Shown = {
    fingerprint: certificate?.fingerprint256.replaceAll(':', '').toLowerCase(),
    trusted: authorized === true,
    from: certificate?.validFromDate.getTime() ?? 0,
    to: certificate?.validToDate.getTime() ?? 0,
  };
  shownOn.set(socket, shown);
  return shown;
}

/** The fingerprint of the certificate that the client has shown, whatever it is worth. */
export const shownFingerprint = ({ socket }: IncomingMessage): string | undefined => shownBy(socket).fingerprint;

/**
 * The fingerprint of the client's certificate, or what is wrong with it now. A kept connection may have outlived its
 * certificate.
 */
export function fingerprintOf(
  { socket }: IncomingMessage,
  now: number,
): { readonly fingerprint: string } | { readonly fault: CertificateFault } {
  const { fingerprint, trusted, from, to } = shownBy(socket);
  if (fingerprint === undefined) return { fault: 'none' };
  if (now > to || now < from) return { fault: 'expired' };
  return trusted ? { fingerprint } : { fault: 'untrusted' };
}
