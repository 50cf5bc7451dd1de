import { accountCreated, accountPurged, listGroups } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const topic = accountCreated.topic.name;

function deliverCreated(account: string) {
  const data = { account_id: account, name: 'Acme', account_type: 'network', owner_user_id: newId('user') };
  return service.deliver(accountCreated, data, account);
}

test('account.created gives the account its first group, and group.created is published', async () => {
  const tenant = newTenant(service);
  const envelope = await deliverCreated(tenant.account);
  const { entries } = (await tenant.owner.call(listGroups)).body;
  const at = envelope.occurred_at;
  expect(entries).toEqual([
    {
      id: expect.stringMatching(/^grp_/),
      name: 'Main',
      external_id: null,
      description: null,
      created_at: at,
      updated_at: at,
    },
  ]);
  const events = await tenant.events();
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    type: 'group.created',
    key: tenant.account,
    occurred_at: at,
    traceparent: envelope.traceparent,
    data: { account_id: tenant.account, aggregate_version: 1, group: entries[0] },
  });
});

test('account.created delivered again makes no second group', async () => {
  const tenant = newTenant(service);
  const envelope = await deliverCreated(tenant.account);
  for (let again = 0; again < 3; again++) await service.redeliver(envelope, topic);
  expect((await tenant.owner.call(listGroups)).body.entries).toHaveLength(1);
  expect(await tenant.events()).toHaveLength(1);
});

test('account.created delivered twenty times at once makes one group', async () => {
  const first = newTenant(service);
  const envelope = await deliverCreated(first.account);
  const tenant = newTenant(service);
  // The same event for an account that has not received it yet, so that all twenty deliveries race to be the first.
  const data = { ...envelope.data, account_id: tenant.account };
  const fresh = { ...envelope, event_id: crypto.randomUUID(), account_id: tenant.account, key: tenant.account, data };
  await Promise.all(Array.from({ length: 20 }, () => service.redeliver(fresh, topic)));
  expect((await tenant.owner.call(listGroups)).body.entries).toHaveLength(1);
  expect((await tenant.events()).map(({ type }) => type)).toEqual(['group.created']);
  const { rows } = await service.db.query('SELECT consumer FROM inbox WHERE event_id = $1', [fresh.event_id]);
  expect(rows).toEqual([{ consumer: 'organization' }]);
});

test('account.purged deletes all groups of that account, publishes each deletion, and touches no other account', async () => {
  const tenant = newTenant(service);
  const other = newTenant(service);
  const [envelope] = [await deliverCreated(tenant.account), await deliverCreated(other.account)];
  const second = await tenant.group('Second');
  const ids = (await tenant.owner.call(listGroups)).body.entries.map(({ id }) => id);
  expect(ids).toContain(second.id);
  const before = await tenant.events();

  const purged = await service.deliver(accountPurged, { account_id: tenant.account }, tenant.account);
  await tenant.purged();
  expect((await tenant.owner.call(listGroups)).body.entries).toEqual([]);
  const deletions = (await tenant.events()).slice(before.length);
  expect(deletions.map(({ type, data }) => [type, data.group_id]).sort()).toEqual(
    ids.map((id) => ['group.deleted', id]).sort(),
  );
  for (const event of deletions) {
    expect(event).toMatchObject({ key: tenant.account, data: { account_id: tenant.account, aggregate_version: 2 } });
    expect(Date.parse(event.occurred_at)).toBeGreaterThanOrEqual(Date.parse(purged.occurred_at));
  }
  expect((await other.owner.call(listGroups)).body.entries).toHaveLength(1);

  // Delivering both again creates and publishes nothing.
  await service.redeliver(envelope, topic);
  await service.redeliver(purged, topic);
  await tenant.purged();
  expect((await tenant.owner.call(listGroups)).body.entries).toEqual([]);
  expect(await tenant.events()).toHaveLength(before.length + deletions.length);
});

test('account.purged of an account without an estate publishes nothing', async () => {
  const tenant = newTenant(service);
  await service.deliver(accountPurged, { account_id: tenant.account }, tenant.account);
  await tenant.purged();
  expect(await tenant.events()).toEqual([]);
  const { rows } = await service.db.query('SELECT id FROM dead_letters');
  expect(rows).toEqual([]);
});
