import { type Chance, chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';
import { randomEstate } from './support-estates.ts';
import {
  a,
  countStored,
  countsOf,
  device,
  eventsSince,
  exported,
  imported,
  type Row,
  site,
} from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const faults: readonly ((draw: Chance, rows: readonly Row[]) => Row)[] = [
  () => ({ name: '' }),
  () => ({ kind: 'thing' }),
  () => ({ parent: 'nowhere' }),
  () => ({ external_id: '' }),
  () => ({ timezone: 'Mars/Phobos' }),
  (draw, rows) => ({ external_id: draw.pick(rows).external_id }),
  (draw, rows) => ({ parent: draw.pick(rows).external_id }),
  (draw, rows) => ({ device_id: draw.pick(rows).device_id ?? device(1) }),
  () => ({ outputs: [{ output: 'X', screen: 'nowhere' }] }),
];

/** The rows, some of them made faulty. */
const spoiled = (draw: Chance, rows: readonly Row[]) =>
  rows.map((row) => (draw.int(0, 24) === 0 ? { ...row, ...draw.pick(faults)(draw, rows) } : row));

test.each([1, 2, 3, 4, 5, 6])(
  'a dry run reports what the import then does, and changes nothing (seed %i)',
  async (seed) => {
    const draw = chanceFrom(seed);
    const tenant = newTenant(service);
    const estate = randomEstate(draw, 12);
    const existing = estate.filter(({ kind }) => kind !== 'installation' || draw.int(0, 1) === 0);
    await imported(tenant.owner, spoiled(draw, existing));
    const [before, events] = [await exported(tenant.owner), (await tenant.events()).length];
    const file = spoiled(
      draw,
      estate.map((row) => (draw.int(0, 4) === 0 ? { ...row, name: 'New' } : row)),
    );
    const dry = await imported(tenant.owner, file, { dry_run: true });
    expect(dry).toMatchObject({ status: 'succeeded', dry_run: true, progress: 100 });
    expect(await exported(tenant.owner)).toBe(before);
    expect(await eventsSince(tenant, events)).toEqual([]);
    const real = await imported(tenant.owner, file);
    expect([dry.rows, dry.report]).toEqual([real.rows, real.report]);
    expect(real.rows.total).toBe(file.length);
    expect(countsOf(real).filter((count) => count === 0).length).toBeLessThan(2);
  },
);

test('a dry run finds the groups of the file for all of their locations, and counts them once', async () => {
  const tenant = await newTenant(service).withPlan();
  const groups = ['G', 'H', 'J'].map((ref) => a.group(ref));
  const locations = Array.from({ length: 900 }, (_, at) => a.location(`L${at}`, ['G', 'H', 'J'][at % 3] ?? ''));
  const rows = [
    ...groups,
    a.group('bad', { name: '' }),
    ...locations,
    ...locations.map((_, at) => a.zone(`Z${at}`, `L${at}`)),
  ];
  const more = Array.from({ length: 2_000 }, (_, at) => a.location(`M${at}`, at % 1_000 === 0 ? 'bad' : 'G'));
  const dry = await imported(tenant.owner, [...rows, ...more], { dry_run: true });
  expect([dry.status, dry.error, dry.progress, ...countsOf(dry)]).toEqual(['succeeded', null, 100, 3_801, 0, 0, 3]);
  expect(await eventsSince(tenant, 0)).toEqual([]);
  expect(countsOf(await imported(tenant.owner, [...rows, ...more]))).toEqual(countsOf(dry));
});

test('it leaves only the rows of its report in the database', async () => {
  const tenant = newTenant(service);
  const rows = [a.group('G'), ...site('A', 'G'), a.group('H', { name: '' })];
  for (const dry_run of [true, false]) {
    const { id, report } = await imported(tenant.owner, rows, { dry_run });
    expect([report.length, await countStored(service, id)]).toEqual([1, 1]);
  }
});
