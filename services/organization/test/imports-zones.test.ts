import { createClient, listLocations, updateLocation } from '@attribution/contracts';
import { internalToken, startTestService, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { runImports } from '../src/imports/index.ts';
import organization from '../src/index.ts';
import { newTenant, type Tenant } from './support.ts';
import {
  a,
  countsOf,
  ended,
  holdImports,
  imported,
  never,
  openDependencies,
  type Row,
  reportOf,
  send,
} from './support-imports.ts';
import { startUtilities } from './support-utilities.ts';

let service: TestService;
let utilities: Awaited<ReturnType<typeof startUtilities>>;
beforeAll(async () => {
  utilities = await startUtilities();
  service = await startTestService(organization, { environment: { UTILITIES_URL: utilities.url } });
});
afterAll(async () => {
  await service.stop();
  utilities.stop();
});

const says = (timezone: string) => ({ status: 200, body: { timezone } });
const away = { status: 503, body: {} };
beforeEach(() => {
  utilities.answer = says('Australia/Sydney');
  utilities.asked.length = 0;
});

const sydney = { latitude: -33.8688, longitude: 151.2093 };
/** A location with coordinates and without a time zone. */
const placed = (ref: string, more: Row = {}): Row => a.location(ref, 'G', { timezone: null, ...sydney, ...more });

/** The zones of the account's locations by their external ids. */
async function zonesOf({ owner }: Tenant) {
  const { entries } = (await owner.call(listLocations)).body;
  return Object.fromEntries(entries.map(({ external_id, timezone }) => [external_id, timezone]));
}

test.each(['text/csv', 'application/x-ndjson'] as const)(
  'a new location of a file (%s) without a time zone gets that of its coordinates, and equal points are asked about once',
  async (media) => {
    const tenant = newTenant(service);
    const { timezone: _, ...without } = placed('B');
    const rows = [
      a.group('G'),
      placed('A'),
      media === 'text/csv' ? placed('B') : without,
      a.location('C', 'G', sydney),
    ];
    for (const dry_run of [true, false]) {
      const done = await imported(tenant.owner, rows, { media, dry_run });
      expect([countsOf(done), done.report]).toEqual([[4, 0, 0, 0], []]);
    }
    expect(await zonesOf(tenant)).toEqual({ A: 'Australia/Sydney', B: 'Australia/Sydney', C: 'Europe/Zurich' });
    const path = '/internal/v2/timezone?latitude=-33.86880000&longitude=151.20930000';
    expect(utilities.asked).toEqual([`organization ${path}`, `organization ${path}`]);
  },
);

test('a location that exists keeps its time zone, and the same file changes nothing, though Utilities is away', async () => {
  const tenant = newTenant(service);
  const rows = [a.group('G'), placed('A')];
  await imported(tenant.owner, rows);
  const [location] = (await tenant.owner.call(listLocations)).body.entries;
  const params = { id: location?.id ?? '' };
  await tenant.owner.call(updateLocation, { params, body: { timezone: 'Australia/Hobart' } });
  utilities.answer = away;
  expect(countsOf(await imported(tenant.owner, rows))).toEqual([0, 0, 2, 0]);
  expect(countsOf(await imported(tenant.owner, [a.group('G'), placed('A', { latitude: -34 })]))).toEqual([0, 1, 1, 0]);
  expect(await zonesOf(tenant)).toEqual({ A: 'Australia/Hobart' });
});

test('a new location without a time zone and without coordinates is refused', async () => {
  const { owner } = newTenant(service);
  const { report } = await imported(owner, [a.group('G'), a.location('A', 'G', { timezone: null })]);
  expect(report).toEqual([expect.objectContaining({ row: 3, reason: 'timezone: is required for a new location.' })]);
  expect(utilities.asked).toEqual([]);
});

/** Runs imports with the given function, which no other process does meanwhile. */
async function holding(work: (run: () => Promise<void>) => Promise<void>): Promise<void> {
  const release = await holdImports(service);
  const token = () => internalToken('organization', 'utilities');
  const deps = openDependencies(service, createClient({ baseUrl: utilities.url, token }));
  try {
    await work(() => runImports(deps).run(never));
  } finally {
    await deps.database.close();
    await release();
  }
}

/** Two locations whose zones are asked for, with a zone each, and one that has its own. */
const estate = [
  a.group('G'),
  placed('A'),
  a.zone('A-Z', 'A'),
  placed('B', { latitude: -34 }),
  a.zone('B-Z', 'B'),
  a.location('C', 'G'),
];

test('an import waits for Utilities to come back, and then sets everything up', () =>
  holding(async (run) => {
    const tenant = newTenant(service);
    const { id } = await send(tenant.owner, estate);
    utilities.answer = away;
    await expect(run()).rejects.toThrow('Utilities does not say the time zones of an import');
    // Nobody is asked any more who has just not answered.
    expect(utilities.asked.length).toBeLessThanOrEqual(2);
    expect(await zonesOf(tenant)).toEqual({});
    utilities.answer = says('Australia/Sydney');
    await run();
    expect(countsOf(await ended(tenant.owner, id, 0))).toEqual([6, 0, 0, 0]);
    expect(await zonesOf(tenant)).toEqual({ A: 'Australia/Sydney', B: 'Australia/Sydney', C: 'Europe/Zurich' });
  }));

test('if Utilities stays away, the locations without a time zone are refused whole with the reason, and no others', () =>
  holding(async (run) => {
    const tenant = newTenant(service);
    const { id } = await send(tenant.owner, estate);
    utilities.answer = away;
    // The group is progress, after which there are three more attempts.
    for (let failed = 0; failed < 3; failed++) await run().catch(() => {});
    await run();
    const done = await ended(tenant.owner, id, 0);
    expect([done.status, countsOf(done)]).toEqual(['succeeded', [2, 0, 0, 4]]);
    const reason = 'timezone: the zone of these coordinates cannot be found out now. Give it, or try again.';
    expect((await reportOf(tenant.owner, id)).map(({ external_id, reason }) => [external_id, reason])).toEqual([
      ['A', reason],
      ['A-Z', 'Row 3 of the same location is at fault.'],
      ['B', reason],
      ['B-Z', 'Row 5 of the same location is at fault.'],
    ]);
    expect(await zonesOf(tenant)).toEqual({ C: 'Europe/Zurich' });
  }));
