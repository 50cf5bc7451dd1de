import {
  type EstateKind,
  estateKinds,
  estateSnapshot,
  lookUpEstate,
  updateScreen,
  updateZone,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { badTokens, internalToken, personToken, sendRaw, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fill, kindNames, kinds } from './kinds.ts';
import { foldEvents, type KnownState, newTenant, startOrganization, type Tenant } from './support.ts';

let service: TestService;
let tenants: readonly [Tenant, Tenant];
beforeAll(async () => {
  service = await startOrganization();
  tenants = [newTenant(service), newTenant(service)];
  // Alternating, so that the ids of the accounts are interleaved.
  for (let time = 0; time < 3; time++) for (const tenant of tenants) await tenant.tree();
});
afterAll(() => service.stop());

const internal = () => service.client.with({ token: internalToken('campaign', 'organization') });
type Query = Record<string, string | number | undefined>;

interface Row extends KnownState {
  readonly kind: EstateKind;
  readonly id: string;
  readonly account: string;
}

/** The rows of all pages, in the order of their kinds. Expects that each page but the last has `limit` rows. */
async function walk(query: Query): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (;;) {
    const { body } = await internal().call(estateSnapshot, { query: { ...query, cursor } });
    const page = estateKinds.flatMap((kind) =>
      body[`${kind}s`].map((entry): Row => {
        const state = (entry as unknown as Record<EstateKind, { id: string }>)[kind];
        return { kind, id: state.id, account: entry.account_id, version: entry.aggregate_version, state };
      }),
    );
    rows.push(...page);
    // A cursor never leads to an empty page.
    expect(page.length > 0 || cursor === undefined).toBe(true);
    if (body.next_cursor === null) return rows;
    expect(page).toHaveLength(Number(query.limit));
    cursor = body.next_cursor;
  }
}

const statesOf = (rows: readonly Row[]) => new Map(rows.map(({ id, version, state }) => [id, { version, state }]));

/** What exists in the account according to its events. */
async function statesByEvents(tenant: Tenant): Promise<Map<string, KnownState>> {
  return new Map([...foldEvents(await tenant.events())].filter(([, { state }]) => state !== undefined));
}

test.each([1, 2, 3, 4, 5, 7, 17, 18, 19, 2000])(
  '200: pages of %d walk all kinds of an account, parents before children, each thing once',
  async (limit) => {
    const rows = await walk({ account_id: tenants[0].account, limit });
    expect(rows.map(({ kind }) => kind)).toEqual(estateKinds.flatMap((kind) => [kind, kind, kind]));
    expect(new Set(rows.map(({ id }) => id)).size).toBe(18);
    for (const { account } of rows) expect(account).toBe(tenants[0].account);
  },
);

test('200: the snapshot equals the state and the versions that follow from the events, after changes and deletions too', async () => {
  const tenant = newTenant(service);
  const tree = await tenant.tree();
  await tenant.tree();
  for (const kind of kindNames) {
    const { update, remove, another } = kinds[kind];
    const params = { id: tree[kind].id };
    await tenant.owner.call(update, { params, body: { name: 'Changed', external_id: `${kind}-1` } });
    const { id } = await another(tenant, tree);
    expect((await tenant.owner.call(remove, { params: { id } })).status).toBe(204);
  }
  await tenant.owner.call(updateScreen, { params: { id: tree.screen.id }, body: { width_px: 1, tags: ['a'] } });
  const expected = await statesByEvents(tenant);
  expect(expected.size).toBe(12);
  expect(expected.get(tree.screen.id)?.version).toBe(3);
  expect(statesOf(await walk({ account_id: tenant.account, limit: 5 }))).toEqual(expected);
});

test.each([1, 4, 1000])(
  '200: the snapshot of all accounts, in pages of %d, has the estate of every account, each thing once',
  async (limit) => {
    const rows = await walk({ limit });
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    for (const tenant of tenants) {
      expect(statesOf(rows.filter(({ account }) => account === tenant.account))).toEqual(await statesByEvents(tenant));
    }
    const order = rows.map(({ kind }) => estateKinds.indexOf(kind));
    expect(order).toEqual(order.toSorted());
  },
);

test('200: a page has 1000 rows without a limit', async () => {
  const tenant = newTenant(service);
  await fill(service, tenant, 'screen', 1001);
  const query = { account_id: tenant.account };
  const { body } = await internal().call(estateSnapshot, { query });
  expect(body.screens).toHaveLength(997); // Behind a group, a location and a zone.
  const next = await internal().call(estateSnapshot, { query: { ...query, cursor: body.next_cursor ?? '' } });
  expect(next.body).toMatchObject({ next_cursor: null, groups: [], locations: [], zones: [] });
  expect(next.body.screens).toHaveLength(4);
});

describe('kinds', () => {
  test.each<[string, EstateKind[]]>([
    ['group', ['group']],
    ['camera', ['camera']],
    ['screen,zone', ['zone', 'screen']],
    ['camera,group,group', ['group', 'camera']],
    ['camera,installation,screen,zone,location,group', [...estateKinds]],
  ])('%s: the snapshot has these kinds alone, parents before children', async (kinds, expected) => {
    for (const limit of [2, 1000]) {
      const rows = await walk({ account_id: tenants[1].account, kinds, limit });
      expect(rows.map(({ kind }) => kind)).toEqual(expected.flatMap((kind) => [kind, kind, kind]));
    }
  });
});

test('200: the snapshot of an account without an estate is one empty page', async () => {
  const { body } = await internal().call(estateSnapshot, { query: { account_id: newId('account') } });
  const empty = Object.fromEntries(estateKinds.map((kind) => [`${kind}s`, []]));
  expect(body).toEqual({ ...empty, next_cursor: null });
});

test('a change between two pages is in one of them or in an event: the newest version is the current one', async () => {
  const tenant = newTenant(service);
  const tree = await tenant.tree();
  const kept = new Map<string, KnownState>();
  const keep = (id: string, known: KnownState) => {
    if ((kept.get(id)?.version ?? 0) < known.version) kept.set(id, known);
  };
  const query = { account_id: tenant.account, limit: 3 };
  const first = (await internal().call(estateSnapshot, { query })).body;
  for (const { zone, aggregate_version: version } of first.zones) keep(zone.id, { version, state: zone });
  await tenant.owner.call(updateZone, { params: { id: tree.zone.id }, body: { name: 'Later' } });
  const late = await tenant.zone(tree.location.id);
  const next = { ...query, cursor: first.next_cursor ?? '', limit: 100 };
  for (const { zone, aggregate_version: version } of (await internal().call(estateSnapshot, { query: next })).body
    .zones)
    keep(zone.id, { version, state: zone });
  for (const [id, known] of foldEvents(await tenant.events())) if (id.startsWith('zon_')) keep(id, known);
  expect([...kept.keys()]).toEqual([tree.zone.id, late.id]);
  expect(kept.get(tree.zone.id)).toMatchObject({ version: 2, state: { name: 'Later' } });
});

const good = newId('account');
test.each([
  ['limit=0', 'query.limit: must be at least 1, not 0.'],
  ['limit=2001', 'query.limit: must be at most 2000, not 2001.'],
  ['limit=x', 'query.limit: must be a whole number from 1 to 2000, not "x".'],
  ['account_id=acc_1', 'query.account_id: must be an account id (acc_…), not "acc_1".'],
  ['kinds=', 'query.kinds[0]: must be one of group, location, zone, screen, installation, camera, not "".'],
  [
    'kinds=group,shop',
    'query.kinds[1]: must be one of group, location, zone, screen, installation, camera, not "shop".',
  ],
  ['cursor=x', 'query.cursor: is not a next_cursor of this list with these filters.'],
  [`account_id=${good}&cursor=`, 'query.cursor: must be the next_cursor of the page before, not "".'],
])('400: %s is refused by name', async (query, detail) => {
  const token = internalToken('campaign', 'organization');
  const { status, text } = await sendRaw(service, 'GET', `/internal/v2/estate-snapshot?${query}`, token);
  expect([status, JSON.parse(text).detail]).toEqual([400, detail]);
});

test('400: a cursor of other kinds or of another account is refused', async () => {
  const of = (query: Query) => internal().call(estateSnapshot, { query: { limit: 1, ...query } });
  const { account } = tenants[0];
  const cursor = (await of({ account_id: account })).body.next_cursor ?? '';
  for (const query of [{}, { account_id: tenants[1].account }, { account_id: account, kinds: 'group' }])
    expect((await of({ ...query, cursor })).problem?.kind).toBe('validation-error');
});

test.each([
  ...badTokens(),
  ['a person’s token', personToken()] as const,
  ['a token for another service', internalToken('campaign', 'account')] as const,
])('401: %s reads no snapshot', async (_, token) => {
  const { status } = await sendRaw(service, 'GET', '/internal/v2/estate-snapshot', token);
  expect(status).toBe(401);
});

test('things are looked up by their ids and their device, within an account', async () => {
  const [tenant, other] = tenants;
  const { location, zone, screen, installation, camera } = await tenant.tree();
  const events = service.client.with({ token: internalToken('events', 'organization') });
  const ask = async (account: string, device_id?: string) => {
    const ids = [location, zone, screen].map(({ id }) => id).join(',');
    const query = { account_id: account, ids: `${ids},${newId('screen')},x`, device_id };
    const { body } = await events.call(lookUpEstate, { query });
    return {
      locations: body.locations.map((row) => row.location.id),
      zones: body.zones.map((row) => row.zone.id),
      screens: body.screens.map((row) => row.screen.id),
      installations: body.installations.map((row) => row.installation.id),
      cameras: body.cameras.map((row) => row.camera.id),
    };
  };
  const none = { installations: [], cameras: [] };
  const found = { locations: [location.id], zones: [zone.id], screens: [screen.id] };
  expect(await ask(tenant.account)).toEqual({ ...none, ...found });
  expect(await ask(tenant.account, installation.device_id)).toMatchObject({ installations: [installation.id] });
  expect(await ask(tenant.account, camera.device_id)).toMatchObject({ cameras: [camera.id] });
  expect(await ask(other.account, camera.device_id)).toEqual({ ...none, locations: [], zones: [], screens: [] });
});
