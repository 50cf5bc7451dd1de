import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lookUpGroups } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { expect, test } from '@jest/globals';
import { clientsOf } from '../src/calls.ts';

test('a call follows no redirect, so that its token goes to nobody but the service that is called', async () => {
  const asked: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    asked.push(req);
    res.writeHead(307, { location: '/elsewhere' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const ORGANIZATION_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { organization } = clientsOf('account', { organization: ['api'] }, { ORGANIZATION_URL }, () => 'a-token');
    const account_id = newId('account');
    const call = organization?.call(lookUpGroups, { query: { account_id, ids: newId('group') } });
    await expect(call).rejects.toThrow('fetch failed');
    expect(asked.map(({ url }) => url?.split('?')[0])).toEqual([lookUpGroups.path]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
