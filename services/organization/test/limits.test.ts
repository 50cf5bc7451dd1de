import {
  createGroup,
  createLocation,
  createScreen,
  deleteLocation,
  deleteScreen,
  freePlan,
  listLocations,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kinds } from '../src/tree.ts';
import { newTenant, startOrganization, type Tenant } from './support.ts';
import { a, imported, site } from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const createIn = ({ owner }: Tenant, group_id: string) =>
  owner.call(createLocation, { body: { group_id, name: 'A shop', timezone: 'Europe/Zurich' } });
const screenIn = ({ owner }: Tenant, zone_id: string) =>
  owner.call(createScreen, { body: { zone_id, name: 'A screen', width_px: 1920, height_px: 1080 } });
const locationsOf = async ({ owner }: Tenant) =>
  (await owner.call(listLocations, { query: { limit: 200 } })).body.entries;

/** Counts rows of a kind that do not exist. */
const pretend = ({ account }: Tenant, kind: string, count: number) =>
  service.db.query('INSERT INTO estate_totals (account_id, kind, change) VALUES ($1, $2, $3)', [account, kind, count]);

test('422: a location or screen more than the plan allows, naming the limit; a deletion makes room', async () => {
  const tenant = await newTenant(service).withPlan({ locations: 2, screens: 1 });
  const { group, location, zone, screen } = await tenant.tree();
  const second = await createIn(tenant, group.id);
  expect(second.status).toBe(201);
  const refused = { kind: 'unprocessable', detail: 'The plan allows 2 locations.' };
  expect((await createIn(tenant, group.id)).problem).toMatchObject(refused);
  expect(await locationsOf(tenant)).toMatchObject([{ id: location.id }, { id: second.body.id }]);
  expect((await screenIn(tenant, zone.id)).problem?.detail).toBe('The plan allows 1 screen.');

  await tenant.owner.call(deleteLocation, { params: { id: second.body.id } });
  expect((await createIn(tenant, group.id)).status).toBe(201);
  // A refused deletion makes no room.
  expect((await tenant.owner.call(deleteScreen, { params: { id: screen.id } })).status).toBe(409);
  expect((await screenIn(tenant, zone.id)).status).toBe(422);
});

test('422: without a subscription, beyond the free plan', async () => {
  const tenant = newTenant(service);
  const group = await tenant.group();
  await pretend(tenant, 'location', freePlan.locations - 1);
  expect((await createIn(tenant, group.id)).status).toBe(201);
  expect((await createIn(tenant, group.id)).problem?.detail).toBe('The plan allows 100 locations.');
});

test('422: beyond what any account may have of a kind, whatever its plan', async () => {
  const tenant = await newTenant(service).withPlan();
  await pretend(tenant, 'group', 99_999);
  const create = () => tenant.owner.call(createGroup, { body: { name: 'A group' } });
  expect((await create()).status).toBe(201);
  expect((await create()).problem).toMatchObject({
    kind: 'unprocessable',
    detail: 'An account has at most 100000 groups.',
  });
});

test('a lower plan takes nothing away, and a late event of an earlier plan changes nothing', async () => {
  const tenant = await newTenant(service).withPlan({ locations: 3 });
  const group = await tenant.group();
  for (let i = 0; i < 3; i++) await createIn(tenant, group.id);
  await tenant.withPlan({ locations: 1 }, 3);
  await tenant.withPlan({ locations: 9 }, 2);
  expect((await createIn(tenant, group.id)).problem?.detail).toBe('The plan allows 1 location.');
  expect(await locationsOf(tenant)).toHaveLength(3);
  await tenant.withPlan({}, 4);
  expect((await createIn(tenant, group.id)).status).toBe(201);
});

test('of many who create at once, as many succeed as there is room for', async () => {
  const tenant = await newTenant(service).withPlan({ locations: 5 });
  const group = await tenant.group();
  const answers = await Promise.all(Array.from({ length: 20 }, () => createIn(tenant, group.id)));
  const statuses = answers.map(({ status }) => status);
  expect([statuses.filter((status) => status === 201).length, new Set(statuses)]).toEqual([5, new Set([201, 422])]);
  expect(await locationsOf(tenant)).toHaveLength(5);
});

test('what counts towards a limit is found by the account, also with a plan that was made when the table was small', async () => {
  await pretend(newTenant(service), 'group', 1);
  await service.db.query('ANALYZE estate_totals');
  const { rows } = await service.db.query(
    "SELECT estate_room($1, 'group', 100000, 20000), pg_stat_get_xact_numscans('estate_totals'::regclass)::int AS scans",
    [newTenant(service).account],
  );
  expect(rows).toEqual([{ estate_room: 100_000, scans: 0 }]);
});

test('far from the limit, creations do not wait for each other, and their counts are summed up in time', async () => {
  const tenant = await newTenant(service).withPlan();
  const group = await tenant.group();
  await service.db.query(
    "INSERT INTO estate_totals (account_id, kind, change) SELECT $1, 'location', 1 FROM generate_series(1, 150)",
    [tenant.account],
  );
  const parts = async () =>
    (
      await service.db.query("SELECT change FROM estate_totals WHERE account_id = $1 AND kind = 'location'", [
        tenant.account,
      ])
    ).rows;
  const other = await service.db.connect();
  await other.query('BEGIN');
  await other.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 5))', [`${tenant.account} location`]);
  expect((await createIn(tenant, group.id)).status).toBe(201);
  expect(await parts()).toHaveLength(151);
  await other.query('ROLLBACK');
  other.release();
  expect((await createIn(tenant, group.id)).status).toBe(201);
  expect(await parts()).toEqual([{ change: 152 }]);
});

test('an import refuses the locations that the plan does not allow, and so does its dry run', async () => {
  const tenant = await newTenant(service).withPlan({ locations: 1_600 });
  const rows = [a.group('G'), ...Array.from({ length: 2_000 }, (_, i) => a.location(`L${i}`, 'G'))];
  const dry = await imported(tenant.owner, rows, { dry_run: true });
  const real = await imported(tenant.owner, rows);
  expect(real.rows).toEqual(dry.rows);
  expect(real.rows).toMatchObject({ created: 1_601, refused: 400 });
  expect(new Set(real.report.map(({ reason }) => reason))).toEqual(new Set(['The plan allows 1600 locations.']));
  // Imported again, what exists is unchanged, and the rest is refused again.
  const again = await imported(tenant.owner, rows);
  expect(again.rows).toMatchObject({ created: 0, unchanged: 1_601, refused: 400 });

  const other = await newTenant(service).withPlan({ screens: 2 });
  const sites = await imported(other.owner, [a.group('G'), ...[1, 2, 3].flatMap((i) => site(`S${i}`, 'G'))]);
  expect(sites.rows).toMatchObject({ created: 11, refused: 5 });
  expect(sites.report.find(({ kind }) => kind === 'screen')?.reason).toBe('The plan allows 2 screens.');
});

test('the totals are those of the rows, after everything that was created, deleted and refused', async () => {
  const tenant = await newTenant(service).withPlan({ locations: 8 });
  await imported(tenant.owner, [a.group('G'), ...Array.from({ length: 10 }, (_, i) => a.location(`L${i}`, 'G'))]);
  const [first] = await locationsOf(tenant);
  await tenant.owner.call(deleteLocation, { params: { id: first?.id ?? '' } });
  await tenant.tree();
  for (const { name, table } of kinds) {
    const { rows } = await service.db.query(
      `SELECT (SELECT coalesce(sum(change), 0)::int FROM estate_totals WHERE account_id = $1 AND kind = $2) AS total,
         (SELECT count(*)::int FROM ${table} WHERE account_id = $1) AS count`,
      [tenant.account, name],
    );
    expect({ name, total: rows[0]?.total }).toEqual({ name, total: rows[0]?.count });
  }
});
