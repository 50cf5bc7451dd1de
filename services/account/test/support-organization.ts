import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '@attribution/contracts';
import { testInternal } from '@attribution/testing';

export interface OrganizationDouble {
  readonly url: string;
  /** A new group of that account, which no event has told of. */
  addGroup(accountId: string): string;
  stop(): Promise<void>;
}

/** Stands for the service that owns groups: says which of those asked for an account has. */
export async function startOrganizationDouble(): Promise<OrganizationDouble> {
  const accountOf = new Map<string, string>();
  const { verify } = testInternal('organization');
  const server = createServer((req, res) => {
    if (verify(req.headers.authorization) !== 'account') throw new Error('Nobody else asks here');
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://organization');
    if (pathname !== '/internal/v2/groups') throw new Error(`Nothing at ${pathname}`);
    const ids = searchParams.get('ids')?.split(',') ?? [];
    const known = ids.filter((id) => accountOf.get(id) === searchParams.get('account_id'));
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ entries: known.map((id) => ({ id, name: 'North' })) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    addGroup(accountId) {
      const id = newId('group');
      accountOf.set(id, accountId);
      return id;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
