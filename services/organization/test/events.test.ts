import {
  createGroup,
  createLocation,
  deleteGroup,
  deleteLocation,
  Envelope,
  getGroup,
  getLocation,
  listGroups,
  listLocations,
  newId,
  updateGroup,
  updateLocation,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

test('each change of a group or a location tells what it became, once, in order, keyed by account', async () => {
  const tenant = newTenant(service);
  const { account, owner } = tenant;
  const created = (await owner.call(createGroup, { body: { name: 'A' } })).body;
  const updated = (await owner.call(updateGroup, { params: { id: created.id }, body: { description: 'B' } })).body;
  const place = await tenant.location(created.id);
  const moved = (await owner.call(updateLocation, { params: { id: place.id }, body: { latitude: 1.5, longitude: 2 } }))
    .body;
  await owner.call(deleteLocation, { params: { id: place.id } });
  await owner.call(deleteGroup, { params: { id: created.id } });

  const events = await tenant.events();
  expect(events.map(({ type, data }) => [type, data])).toEqual([
    ['group.created', { account_id: account, aggregate_version: 1, group: created }],
    ['group.updated', { account_id: account, aggregate_version: 2, group: updated }],
    ['location.created', { account_id: account, aggregate_version: 1, location: place }],
    ['location.updated', { account_id: account, aggregate_version: 2, location: moved }],
    ['location.deleted', { account_id: account, aggregate_version: 3, location_id: place.id }],
    ['group.deleted', { account_id: account, aggregate_version: 3, group_id: created.id }],
  ]);
  for (const event of events) {
    expect(Envelope.parse(event)).toEqual(event);
    expect(event).toMatchObject({ version: 1, account_id: account, key: account });
  }
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(6);
  expect(events[1]?.occurred_at).toBe(updated.updated_at);
});

test('an event carries the trace context of the request that caused it', async () => {
  const tenant = newTenant(service);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  await tenant.owner.with({ headers: { traceparent } }).call(createGroup, { body: { name: 'Traced' } });
  expect((await tenant.events()).map((event) => event.traceparent)).toEqual([traceparent]);
});

test('reading tells nothing', async () => {
  const tenant = newTenant(service);
  const location = await tenant.location((await tenant.group()).id);
  const before = await tenant.events();
  await tenant.owner.call(listGroups);
  await tenant.owner.call(listLocations);
  await tenant.owner.call(getGroup, { params: { id: location.group_id } });
  await tenant.owner.call(getLocation, { params: { id: location.id } });
  expect(await tenant.events()).toEqual(before);
});

test('a request that is refused tells nothing', async () => {
  const tenant = newTenant(service);
  const { owner } = tenant;
  const group = await tenant.group();
  const location = await tenant.location(group.id);
  const before = await tenant.events();
  const member = tenant.narrowed({ [group.id]: 'm' });
  const elsewhere = newId('group');
  const refused = await Promise.all([
    owner.call(createGroup, { body: { name: '' } }),
    owner.call(updateGroup, { params: { id: elsewhere }, body: { name: 'x' } }),
    owner.call(deleteGroup, { params: { id: group.id } }),
    owner.call(createLocation, { body: { group_id: elsewhere, name: 'x', timezone: 'UTC' } }),
    owner.call(updateLocation, { params: { id: location.id }, body: { group_id: elsewhere } }),
    member.call(deleteLocation, { params: { id: location.id } }),
  ]);
  expect(refused.map(({ status }) => status)).toEqual([400, 404, 409, 422, 422, 403]);
  expect(await tenant.events()).toEqual(before);
});

describe('when the outbox takes no event', () => {
  /** Postgres refuses the account's events, as it would when the outbox cannot grow. */
  async function withoutOutbox<T>(account: string, work: () => Promise<T>): Promise<T> {
    await service.db.query(`ALTER TABLE outbox ADD CONSTRAINT refuse_account CHECK (account_id <> '${account}')`);
    try {
      return await work();
    } finally {
      await service.db.query('ALTER TABLE outbox DROP CONSTRAINT refuse_account');
    }
  }

  test('503: no change is made either, and the answer tells nothing of the cause', async () => {
    const tenant = newTenant(service);
    const { owner } = tenant;
    const group = await tenant.group();
    const spare = await tenant.group();
    const location = await tenant.location(group.id);
    const before = await tenant.events();
    const answers = await withoutOutbox(tenant.account, () =>
      Promise.all([
        owner.call(createGroup, { body: { name: 'New' } }),
        owner.call(updateGroup, { params: { id: group.id }, body: { name: 'Changed' } }),
        owner.call(deleteGroup, { params: { id: spare.id } }),
        owner.call(createLocation, { body: { group_id: group.id, name: 'New', timezone: 'UTC' } }),
        owner.call(updateLocation, { params: { id: location.id }, body: { name: 'Changed' } }),
        owner.call(deleteLocation, { params: { id: location.id } }),
      ]),
    );
    for (const { problem, headers } of answers) {
      expect(problem).toMatchObject({
        kind: 'unavailable',
        detail: 'The service could not answer for now; try again.',
      });
      expect(headers.get('retry-after')).toBe('1');
    }
    expect((await owner.call(listGroups)).body.entries).toEqual([group, spare]);
    expect((await owner.call(listLocations)).body.entries).toEqual([location]);
    expect(await tenant.events()).toEqual(before);
  });
});
