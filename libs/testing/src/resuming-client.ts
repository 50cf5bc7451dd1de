import { connect } from 'node:tls';
import type { Certified } from './certificates.ts';

/** A server with TLS on this machine, and the root that it is checked by, as PEM. */
interface SecureServer {
  readonly port: number;
  readonly ca: string;
}

/**
 * Sends each request on a connection of its own, which resumes the TLS session of the one before, and resolves with the
 * status. The first call begins the session.
 */
export function resumingClient(
  { port, ca }: SecureServer,
  identity: Certified | undefined,
  version: 'TLSv1.2' | 'TLSv1.3',
) {
  let session: Buffer | undefined;
  return (path: string, method = 'GET') =>
    new Promise<{ status: number; resumed: boolean }>((resolve, reject) => {
      const versions = { minVersion: version, maxVersion: version };
      const socket = connect({ host: '127.0.0.1', port, ca, ...identity, ...versions, session });
      let text = '';
      let resumed = false;
      socket.on('secureConnect', () => (resumed = socket.isSessionReused()));
      socket.on('session', (given) => (session = given));
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', reject);
      socket.on('close', () => resolve({ status: Number(text.slice(9, 12)), resumed }));
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    });
}
