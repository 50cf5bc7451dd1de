import { createLocation, exportEstate, getGroup, importEstate, matchScreens } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createOutline } from '../src/imports/outline.ts';
import { newTenant, startOrganization } from './support.ts';
import {
  a,
  countLockWaits,
  countsOf,
  device,
  ended,
  holdImports,
  imported,
  send,
  waitsForLock,
} from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const times = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));
const statuses = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status).sort();
/** How long every request waits for its turn, in milliseconds; some wait a quarter longer. */
const waitsMs = 8_000;

/** So many of those that were sent at once are served. On a machine that is too busy for that, those that have waited too long are not. */
async function expectServed(flood: readonly Promise<{ readonly status: number }>[], count: number, sent: number) {
  const given = statuses(await Promise.all(flood));
  const served = given.filter((status) => status === 200).length;
  expect(given).toEqual([...times(served, () => 200), ...times(flood.length - served, () => 503)]);
  expect(served).toBeGreaterThanOrEqual(performance.now() - sent < waitsMs ? count : 1);
  expect(served).toBeLessThanOrEqual(count);
}

test('409: five imports of an account may wait, also when twenty are sent at once, and another one when one is done', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  const release = await holdImports(service);
  const file = { media: 'text/csv', content: 'kind,external_id,name\ngroup,G,Name\n' } as const;
  const answers = await Promise.all(times(20, () => tenant.owner.call(importEstate, { upload: file })));
  expect(statuses(answers)).toEqual([...times(5, () => 202), ...times(15, () => 409)]);
  expect((await other.owner.call(importEstate, { upload: file })).status).toBe(202);
  await release();
  for (const answer of answers) if (answer.status === 202) await ended(tenant.owner, answer.body.id);
  expect((await tenant.owner.call(importEstate, { upload: file })).status).toBe(202);
});

test('403: a caller without the right to import is refused before the file is sent', async () => {
  const tenant = newTenant(service);
  const token = tenant.narrowed({ [newId('group')]: 'm' });
  expect((await token.call(importEstate, { upload: endless() })).status).toBe(403);
});

test('409: an account with five imports that are not done is refused before the file is sent; a repetition is not', async () => {
  const { owner } = newTenant(service);
  const release = await holdImports(service);
  const upload = { media: 'text/csv', content: 'kind,external_id,name\ngroup,G,Name\n' } as const;
  const keyed = () => owner.call(importEstate, { upload, headers: { 'idempotency-key': 'one' } });
  const first = await keyed();
  for (const _ of times(4, () => 0)) expect((await owner.call(importEstate, { upload })).status).toBe(202);
  expect((await owner.call(importEstate, { upload: endless() })).status).toBe(409);
  const repeated = await keyed();
  expect([repeated.status, repeated.body.id]).toEqual([202, first.body.id]);
  await release();
});

/** A file that never ends. */
function endless() {
  let sent = 0;
  const content = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (++sent > 1) await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
      controller.enqueue(Buffer.from('kind,external_id\n'));
    },
  });
  return { media: 'text/csv', content } as const;
}

describe('what one location releases', () => {
  /** Locations with a zone each, too many for one transaction. */
  const between = times(2_000, (at) => [a.location(`B${at}`, 'G'), a.zone(`B${at}-Z`, `B${at}`)]).flat();
  const taking = [a.location('T', 'G'), a.installation('T-I', 'T', device(70_001), { status: 'live' })];
  const releasing = [a.location('L', 'G'), a.installation('L-I', 'L', device(70_001), { status: 'removed' })];

  test.each([
    ['behind', [...releasing, ...between, ...taking]],
    ['long before', [...taking, ...between, ...releasing]],
  ])('is free for another location, whose rows come %s', async (_, rows) => {
    const tenant = await newTenant(service).withPlan();
    const first = [a.group('G'), a.location('L', 'G'), a.installation('L-I', 'L', device(70_001), { status: 'live' })];
    expect(countsOf(await imported(tenant.owner, first))).toEqual([3, 0, 0, 0]);
    const done = await imported(tenant.owner, rows);
    expect([done.report, countsOf(done)]).toEqual([[], [4_002, 1, 1, 0]]);
  });
});

test('an import does not reveal whether an id that its creator does not see exists', async () => {
  const tenant = newTenant(service);
  const [mine, other] = [await tenant.group(), await tenant.group()];
  const hidden = await tenant.location(other.id);
  const admin = tenant.narrowed({ [mine.id]: 'a' });
  expect((await admin.call(getGroup, { params: { id: other.id } })).status).toBe(404);
  const reasonFor = async (id: string) => {
    const { report } = await imported(admin, [a.location(id, mine.id)], { dry_run: true });
    return report.map(({ reason }) => reason.replace(id, 'ID'));
  };
  expect(await reasonFor(hidden.id)).toEqual(await reasonFor(newId('location')));
  const under = async (zone: string) => {
    const { report } = await imported(admin, [a.screen('S', zone)], { dry_run: true });
    return report.map(({ reason }) => reason.replace(zone, 'ID'));
  };
  expect(await under((await tenant.zone(hidden.id)).id)).toEqual(await under(newId('zone')));
});

test('unsetting one coordinate unsets both; setting only one is refused', async () => {
  const tenant = newTenant(service);
  const { owner } = tenant;
  const place = { group_id: (await tenant.group()).id, name: 'There', timezone: 'UTC', external_id: 'L' };
  await owner.call(createLocation, { body: { ...place, latitude: 1, longitude: 2 } });
  const row = { kind: 'location', external_id: 'L', parent: place.group_id };
  const half = await imported(owner, [{ ...row, latitude: 3 }]);
  expect(half.report).toMatchObject([{ row: 2, reason: 'longitude: must be given with latitude.' }]);
  expect(countsOf(await imported(owner, [{ ...row, latitude: null }]))).toEqual([0, 1, 0, 0]);
});

test('a tag that grows to megabytes when it is normalized makes only its location faulty', async () => {
  const tenant = newTenant(service);
  const group = [a.group('G'), a.location('A', 'G'), a.zone('A-Z', 'A'), a.location('B', 'G')];
  const rows = [...group, a.screen('A-S', 'A-Z', { tags: ['\uFDFA'.repeat(300_000)] })];
  const done = await imported(tenant.owner, rows, { media: 'application/x-ndjson' });
  expect(countsOf(done)).toEqual([2, 0, 0, 3]);
  expect(done.report.find(({ row }) => row === 5)?.reason).toBe('tags[0]: must have at most 50 characters.');
});

test('an external id that is too long is not taken for the longest valid one, with which it begins', async () => {
  const { owner } = newTenant(service);
  const longest = '🏪'.repeat(200);
  const rows = [a.group(`${longest}X`), a.group(longest), a.location('L', longest), a.location('M', `${longest}Y`)];
  const done = await imported(owner, rows);
  expect(countsOf(done)).toEqual([2, 0, 0, 2]);
  expect(done.report.map(({ row, reason }) => [row, reason])).toEqual([
    [2, 'external_id: must have at most 200 characters.'],
    [5, 'parent: must have at most 200 characters.'],
  ]);
});

test('large locations whose rows all come first are set up whole, and a faulty one is refused alone', async () => {
  const tenant = await newTenant(service).withPlan();
  const locations = times(8, (at) => a.location(`L${at}`, 'G'));
  const zones = times(4_800, (at) => a.zone(`Z${at}`, `L${at % 8}`, at === 4_003 ? { name: '' } : {}));
  const done = await imported(tenant.owner, [a.group('G'), ...locations, ...zones]);
  expect(countsOf(done)).toEqual([1 + 7 * 601, 0, 0, 601]);
  expect(new Set(done.report.map(({ reason }) => reason))).toEqual(
    new Set(['name: must be text, not null.', 'Row 4014 of the same location is at fault.']),
  );
});

test('a zone with rows in three locations refuses all three', async () => {
  const tenant = newTenant(service);
  const locations = ['A', 'B', 'C'].map((ref) => a.location(ref, 'G'));
  const rows = [a.group('G'), ...locations, ...['A', 'B', 'C'].map((ref) => a.zone('Z', ref)), a.location('D', 'G')];
  const done = await imported(tenant.owner, rows);
  expect(countsOf(done)).toEqual([2, 0, 0, 6]);
  expect(done.report.filter(({ kind }) => kind === 'zone').map(({ row, reason }) => [row, reason])).toEqual([
    [6, 'external_id: row 7 is of the same zone, in another location.'],
    [7, 'external_id: row 6 is of the same zone already.'],
    [8, 'external_id: row 6 is of the same zone already.'],
  ]);
});

test('a removed and a live installation of the same device are accepted in a file that does not change their status', async () => {
  const tenant = newTenant(service);
  const [old, now] = [a.installation('O', 'L', device(70_100)), a.installation('N', 'L', device(70_100))];
  const place = [a.group('G'), a.location('L', 'G')];
  await imported(tenant.owner, [...place, { ...old, status: 'removed' }, { ...now, status: 'live' }]);
  expect(countsOf(await imported(tenant.owner, [...place, old, now]))).toEqual([0, 0, 4, 0]);
});

test('a location with more rows than a unit may have is refused alone', () => {
  const outline = createOutline();
  const place = (row: number, kind: 'location' | 'zone', ref: string, parent: string) =>
    outline.assign(row, { kind, ref, parent, fields: {} }).reason;
  expect(place(1, 'location', 'L', 'G')).toBeUndefined();
  for (let row = 2; row <= 10_000; row++) expect(place(row, 'zone', `Z${row}`, 'L')).toBeUndefined();
  expect(place(10_001, 'zone', 'more', 'L')).toBe('A location has at most 10000 rows in a file.');
  expect(place(10_002, 'location', 'M', 'G')).toBeUndefined();
});

test('20,000 screens before their zones are each refused', async () => {
  const tenant = newTenant(service);
  const screens = times(20_000, (at) => a.screen(`S${at}`, `Z${at % 100}`));
  const zones = times(100, (at) => a.zone(`Z${at}`, `L${at % 10}`));
  const rows = [a.group('G'), ...screens, ...zones, ...times(10, (at) => a.location(`L${at}`, 'G'))];
  const { id } = await send(tenant.owner, rows);
  const done = await ended(tenant.owner, id, 60_000);
  expect([done.status, countsOf(done)]).toEqual(['succeeded', [1, 0, 0, 20_110]]);
});

test('503: forty exports of one credential run one by one, in a line that ends; those of other accounts run beside it', async () => {
  const tenant = newTenant(service);
  const client = await service.db.connect();
  await client.query('BEGIN; LOCK TABLE groups IN ACCESS EXCLUSIVE MODE');
  const refused: unknown[] = [];
  const sent = performance.now();
  const flood = times(40, async () => {
    const answer = await tenant.owner.call(exportEstate);
    if (answer.status === 503) refused.push(answer.headers.get('retry-after'));
    return answer;
  });
  await eventually(() => expect(refused).toEqual(times(7, () => '5')));
  const others = times(2, () => newTenant(service).owner.call(exportEstate));
  await eventually(async () => expect(await countLockWaits(service, 'FROM groups')).toBe(3));
  await client.query('COMMIT');
  client.release();
  expect(statuses(await Promise.all(others))).toEqual([200, 200]);
  await expectServed(flood, 33, sent);
});

test('503: of a hundred searches of one credential two statements run; another account is answered meanwhile', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  await tenant.tree();
  const group = await other.group();
  const client = await service.db.connect();
  await client.query('BEGIN; LOCK TABLE screens IN ACCESS EXCLUSIVE MODE');
  const refused: unknown[] = [];
  const sent = performance.now();
  const flood = times(100, async () => {
    const answer = await tenant.owner.call(matchScreens);
    if (answer.status === 503) refused.push(answer.headers.get('retry-after'));
    return answer;
  });
  await eventually(() => expect(refused).toEqual(times(67, () => '5')));
  await waitsForLock(service, 'FROM screens');
  expect(await countLockWaits(service, 'FROM screens')).toBeLessThanOrEqual(2);
  expect((await other.owner.call(getGroup, { params: { id: group.id } })).status).toBe(200);
  await client.query('COMMIT');
  client.release();
  await expectServed(flood, 33, sent);
});
