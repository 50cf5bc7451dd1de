import { type ClientIdentity, openWire } from '@attribution/simulator';
import { eventually, resumingClient } from '@attribution/testing';
import type { Platform } from './support-platform.ts';

type Ingress = Platform['devices'];
type Ask = (method: 'GET' | 'POST', path: string) => Promise<number>;

/** A connection that is kept for all requests. */
function kept(ingress: Ingress, identity: ClientIdentity): { readonly ask: Ask; close(): void } {
  const wire = openWire({ ...ingress, identity, timeoutMs: 30_000 });
  return { ask: async (method, path) => (await wire.send(method, path)).status, close: wire.close };
}

function resumed({ url, ca }: Ingress, identity: ClientIdentity, version: 'TLSv1.2' | 'TLSv1.3'): Ask {
  const send = resumingClient({ port: Number(new URL(url).port), ca }, identity, version);
  let first = true;
  return async (method, path) => {
    const { status, resumed: isResumed } = await send(path, method);
    if (isResumed === first) throw new Error(`The session was ${first ? 'resumed at once' : 'not resumed'}`);
    first = false;
    return status;
  };
}

/** Asks again while a busy machine answers 503. */
const patiently =
  (ask: Ask): Ask =>
  (...request) =>
    eventually(async () => {
      const status = await ask(...request);
      if (status === 503) throw new Error('Too busy');
      return status;
    });

/**
 * The ways of a device into each of these ingresses: a connection that it keeps, a new one for each request, and ones that
 * resume a session, of TLS 1.2 and 1.3.
 */
export function waysIn(ingresses: readonly Ingress[], identity: ClientIdentity) {
  const connections = ingresses.map((ingress) => kept(ingress, identity));
  const anew = (ingress: Ingress): Ask => {
    return async (...request) => {
      const connection = kept(ingress, identity);
      return connection.ask(...request).finally(connection.close);
    };
  };
  const ways: readonly Ask[] = [
    ...connections.map(({ ask }) => ask),
    ...ingresses.map(anew),
    ...ingresses.map((ingress) => resumed(ingress, identity, 'TLSv1.2')),
    ...ingresses.map((ingress) => resumed(ingress, identity, 'TLSv1.3')),
  ];
  return {
    /** The status by each way. */
    ask: (...request: Parameters<Ask>) => Promise.all(ways.map((ask) => patiently(ask)(...request))),
    /** As `ask` resolves if all are answered alike. */
    all: (status: number) => ways.map(() => status),
    close: () => {
      for (const connection of connections) connection.close();
    },
  };
}
