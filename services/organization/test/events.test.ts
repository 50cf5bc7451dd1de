import {
  createGroup,
  createLocation,
  deleteGroup,
  deleteLocation,
  Envelope,
  estateKinds,
  matchScreens,
  updateGroup,
  updateLocation,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bodyIn, type KindName, kindNames, kinds } from './kinds.ts';
import { newTenant, startOrganization, type Tenant, type Tree } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

describe.each(kindNames)('every change of a %s', (kind) => {
  const { create, update, remove } = kinds[kind];

  test('publishes one event with the new state, with versions from 1, keyed by account', async () => {
    const tenant = newTenant(service);
    const tree = await tenant.tree();
    const before = (await tenant.events()).length;
    const created = (await tenant.owner.call(create, { body: bodyIn(kind, tree) as never })).body;
    const params = { id: created.id };
    const renamed = (await tenant.owner.call(update, { params, body: { name: 'Renamed' } })).body;
    const same = (await tenant.owner.call(update, { params, body: {} })).body;
    await tenant.owner.call(remove, { params });
    const events = (await tenant.events()).slice(before);
    const dataOf = (aggregate_version: number, state: object) => ({
      account_id: tenant.account,
      aggregate_version,
      ...state,
    });
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      [`${kind}.created`, dataOf(1, { [kind]: created })],
      [`${kind}.updated`, dataOf(2, { [kind]: renamed })],
      [`${kind}.updated`, dataOf(3, { [kind]: same })],
      [`${kind}.deleted`, dataOf(4, { [`${kind}_id`]: created.id })],
    ]);
    for (const event of events) {
      expect(Envelope.parse(event)).toEqual(event);
      expect(event).toMatchObject({ version: 1, account_id: tenant.account, key: tenant.account });
    }
    expect(events[1]?.occurred_at).toBe(renamed.updated_at);
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(4);
  });

  test('503: is not made if its event cannot be appended, and the response does not reveal the cause', async () => {
    const tenant = newTenant(service);
    const tree = await tenant.tree();
    const { id } = await kinds[kind].another(tenant, tree);
    const before = await tenant.events();
    const list = async () => (await tenant.owner.call(kinds[kind].list)).body.entries;
    const existing = await list();
    // Postgres refuses the account's events, as it would when the outbox cannot grow.
    await service.db.query(
      `ALTER TABLE outbox ADD CONSTRAINT refuse_account CHECK (account_id <> '${tenant.account}')`,
    );
    const answers = await Promise.all([
      tenant.owner.call(create, { body: bodyIn(kind, tree) as never }),
      tenant.owner.call(update, { params: { id }, body: { name: 'Changed' } }),
      tenant.owner.call(remove, { params: { id } }),
    ]).finally(() => service.db.query('ALTER TABLE outbox DROP CONSTRAINT refuse_account'));
    for (const { problem, headers } of answers) {
      const detail = 'The service could not answer for now. Try again.';
      expect(problem).toMatchObject({ kind: 'unavailable', detail });
      expect(headers.get('retry-after')).toBe('1');
    }
    expect(await list()).toEqual(existing);
    expect(await tenant.events()).toEqual(before);
  });

  test('201: a creation repeated with its Idempotency-Key happens once and gets the same response; 409: with another body', async () => {
    const tenant = newTenant(service);
    const tree = await tenant.tree();
    const body = bodyIn(kind, tree) as { name?: string };
    const client = tenant.owner.with({ headers: { 'idempotency-key': crypto.randomUUID() } });
    const first = await client.call(create, { body: body as never });
    const again = await client.call(create, { body: body as never });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await client.call(create, { body: { ...body, name: 'Other' } as never })).problem?.kind).toBe('conflict');
    expect((await tenant.owner.call(kinds[kind].list)).body.entries.map(({ id }) => id)).toEqual([
      tree[kind].id,
      first.body.id,
    ]);
  });
});

test('an event carries the trace context of the request that caused it', async () => {
  const tenant = newTenant(service);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  await tenant.owner.with({ headers: { traceparent } }).call(createGroup, { body: { name: 'Traced' } });
  expect((await tenant.events()).map((event) => event.traceparent)).toEqual([traceparent]);
});

test('reading publishes nothing', async () => {
  const tenant = newTenant(service);
  const tree = await tenant.tree();
  const before = await tenant.events();
  for (const kind of kindNames) {
    await tenant.owner.call(kinds[kind].list);
    await tenant.owner.call(kinds[kind].get, { params: { id: tree[kind].id } });
  }
  expect((await tenant.owner.call(matchScreens)).body.total).toBe(1);
  expect(await tenant.events()).toEqual(before);
});

test('a refused request publishes nothing', async () => {
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

test('events of a thing come after the creation of its parent and before its deletion, with many trees created and deleted at once', async () => {
  const tenant = newTenant(service);
  const trees = await Promise.all(Array.from({ length: 8 }, () => tenant.tree()));
  await Promise.all(trees.map((tree) => deleteTree(tenant, tree)));
  const events = await tenant.events();
  expect(events).toHaveLength(8 * 12);
  const existing = new Set<string>();
  for (const { type, data } of events) {
    const [kind = '', change] = type.split('.') as [KindName, string];
    if (change === 'deleted') {
      const id = String(data[`${kind}_id`]);
      expect(existing.delete(id)).toBe(true);
      continue;
    }
    const state = data[kind] as Record<string, unknown> & { id: string };
    const parents = [state.group_id, state.location_id, state.zone_id].filter((id) => id !== undefined);
    const wired = ((state.outputs ?? []) as { screen_id: string }[]).map(({ screen_id }) => screen_id);
    for (const id of [...parents, ...wired]) expect([type, existing.has(String(id))]).toEqual([type, true]);
    existing.add(state.id);
  }
  expect(existing.size).toBe(0);
  for (const tree of trees) expectNested(events, tree);
});

async function deleteTree(tenant: Tenant, tree: Tree): Promise<void> {
  for (const kind of [...estateKinds].reverse())
    expect((await tenant.owner.call(kinds[kind].remove, { params: { id: tree[kind].id } })).status).toBe(204);
}

/** Expects that each thing is deleted before its parent. */
function expectNested(events: readonly Envelope[], tree: Tree): void {
  const deletedAt = (kind: KindName) =>
    events.findIndex(({ type, data }) => type === `${kind}.deleted` && data[`${kind}_id`] === tree[kind].id);
  const order = (['installation', 'screen', 'zone', 'location', 'group'] as const).map(deletedAt);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(deletedAt('camera')).toBeLessThan(deletedAt('zone'));
}
