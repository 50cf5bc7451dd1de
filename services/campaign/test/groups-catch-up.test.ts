import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCampaign } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, testInternal } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { groupState, newTenant, startCampaign } from './support.ts';

const noKinds = { locations: [], zones: [], screens: [], installations: [], cameras: [] };

/** A stand-in for Organization with one group per page. `asked` records the caller and the path of each request. */
async function startOrganization(pages: readonly ReturnType<typeof groupState>[]) {
  const asked: string[] = [];
  const { verify } = testInternal('organization');
  const server = createServer((req, res) => {
    asked.push(`${verify(req.headers.authorization)} ${req.url}`);
    const at = Number(new URL(req.url ?? '/', 'http://organization').searchParams.get('cursor') ?? 0);
    res.setHeader('content-type', 'application/json');
    const next_cursor = at + 1 < pages.length ? `${at + 1}` : null;
    res.end(JSON.stringify({ ...noKinds, groups: pages.slice(at, at + 1), next_cursor }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('groups created before the first event are known', async () => {
  const groups = [newId('group'), newId('group')];
  const account = newId('account');
  const organization = await startOrganization(groups.map((id) => groupState(id, account, 4)));
  const service = await startCampaign({ ORGANIZATION_URL: organization.url });
  const rows = async () => (await service.db.query('SELECT * FROM known_groups ORDER BY id')).rows;
  await eventually(async () =>
    expect(await rows()).toEqual(groups.map((id) => ({ id, account_id: account, aggregate_version: 4 }))),
  );
  const path = '/internal/v2/estate-snapshot?kinds=group';
  expect(organization.asked.filter((asked) => asked.includes('kinds=group'))).toEqual([
    `campaign ${path}`,
    `campaign ${path}&cursor=1`,
  ]);
  const owner = newTenant(service).as({ account });
  for (const group_id of groups)
    expect((await owner.call(createCampaign, { body: { name: 'New', group_id } })).status).toBe(201);
  await service.stop();
  organization.server.closeAllConnections();
  organization.server.close();
});

test('while Organization is unreachable the service stays healthy, and logs it once', async () => {
  const service = await startCampaign();
  const complaints = () =>
    service.logs
      .text()
      .split('\n')
      .filter((line) => line.includes('A snapshot cannot be read yet') && line.includes('"snapshot":"groups"'));
  await eventually(() => expect(complaints()).not.toEqual([]));
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // Enough time for another attempt.
  expect(complaints()).toHaveLength(1);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  await service.stop();
});
