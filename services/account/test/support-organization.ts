import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '@attribution/ids';
import { testInternal } from '@attribution/testing';

export interface OrganizationDouble {
  readonly url: string;
  /** Adds a group to that account without an event. */
  addGroup(accountId: string): string;
  stop(): Promise<void>;
}

/** The state of a group, as Organization publishes it. */
export function groupState(id: string, account_id: string, aggregate_version = 1) {
  const at = '2026-11-22T10:00:00.000Z';
  const group = { id, external_id: null, name: 'North', description: null, created_at: at, updated_at: at };
  return { account_id, aggregate_version, group };
}

const pageSize = 2;
const noKinds = { locations: [], zones: [], screens: [], installations: [], cameras: [] };

/** A stand-in for Organization: tells which of the requested groups an account has, and serves the snapshot of all. */
export async function startOrganizationDouble(): Promise<OrganizationDouble> {
  const accountOf = new Map<string, string>();
  const { verify } = testInternal('organization');
  const answers: Readonly<Record<string, (query: URLSearchParams) => unknown>> = {
    '/internal/v2/groups': (query) => {
      const ids = query.get('ids')?.split(',') ?? [];
      const known = ids.filter((id) => accountOf.get(id) === query.get('account_id'));
      return { entries: known.map((id) => ({ id, name: 'North' })) };
    },
    '/internal/v2/estate-snapshot': (query) => {
      if (query.get('kinds') !== 'group') throw new Error('Nothing else is known here');
      const [from, end] = [Number(query.get('cursor') ?? 0), Number(query.get('cursor') ?? 0) + pageSize];
      const groups = [...accountOf].slice(from, end).map(([id, account]) => groupState(id, account));
      return { ...noKinds, groups, next_cursor: end < accountOf.size ? `${end}` : null };
    },
  };
  const server = createServer((req, res) => {
    if (verify(req.headers.authorization) !== 'account') throw new Error('Nobody else asks here');
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://organization');
    const answer = answers[pathname];
    if (!answer) throw new Error(`Nothing at ${pathname}`);
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(answer(searchParams)));
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
