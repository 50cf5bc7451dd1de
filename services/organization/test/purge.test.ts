import { accountPurged, estateKinds } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fill, kindNames, kinds } from './kinds.ts';
import { foldEvents, newTenant, startOrganization, type Tenant } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const purge = ({ account }: Tenant) => service.deliver(accountPurged, { account_id: account }, account);

async function countRows({ account }: Tenant): Promise<number[]> {
  return Promise.all(
    kindNames.map(async (kind) => {
      const sql = `SELECT count(*)::int AS count FROM ${kinds[kind].table} WHERE account_id = $1`;
      return (await service.db.query<{ count: number }>(sql, [account])).rows[0]?.count ?? -1;
    }),
  );
}

test('account.purged deletes the whole estate, children before parents, with an event for each, and touches no other account', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  await Promise.all([tenant.tree(), tenant.tree(), other.tree()]);
  const before = await tenant.events();
  await purge(tenant);
  await tenant.purged();
  expect(await countRows(tenant)).toEqual([0, 0, 0, 0, 0, 0]);
  const events = (await tenant.events()).slice(before.length);
  const expected = [...estateKinds].reverse().flatMap((kind) => [`${kind}.deleted`, `${kind}.deleted`]);
  expect(events.map(({ type }) => type)).toEqual(expected);
  const known = foldEvents([...before, ...events]);
  for (const { version, state } of known.values()) expect([version, state]).toEqual([2, undefined]);
  expect(known.size).toBe(12);
  expect(await countRows(other)).toEqual([1, 1, 1, 1, 1, 1]);
});

test('an estate of more rows than one transaction deletes is deleted whole, with one event for each row', async () => {
  const tenant = newTenant(service);
  const ids = await fill(service, tenant, 'screen', 1101);
  await purge(tenant);
  await tenant.purged();
  expect(await countRows(tenant)).toEqual([0, 0, 0, 0, 0, 0]);
  const events = (await tenant.events()).filter(({ type }) => type === 'screen.deleted');
  expect(events.map(({ data }) => data.screen_id).sort()).toEqual(ids.sort());
  expect((await tenant.events()).slice(-3).map(({ type }) => type)).toEqual([
    'zone.deleted',
    'location.deleted',
    'group.deleted',
  ]);
});

test('several accounts can be purged at once', async () => {
  const tenants = await Promise.all(
    [1, 2, 3].map(async () => {
      const tenant = newTenant(service);
      await tenant.tree();
      return tenant;
    }),
  );
  await Promise.all(tenants.map(purge));
  for (const tenant of tenants) {
    await tenant.purged();
    expect(await countRows(tenant)).toEqual([0, 0, 0, 0, 0, 0]);
  }
});
