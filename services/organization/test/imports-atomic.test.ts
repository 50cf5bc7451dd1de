import { deleteInstallation } from '@attribution/contracts';
import { chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';
import { shuffledWithin } from './support-estates.ts';
import {
  a,
  countsOf,
  csv,
  device,
  exported,
  exportedIds,
  imported,
  ndjson,
  type Row,
  site,
} from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const atFault = (row: number) => `Row ${row} of the same location is at fault.`;
/** The external ids of sites in the order of an export. */
const inExportOrder = (...refs: string[]) =>
  ['', '-Z', '-S', '-I', '-C'].flatMap((end) => refs.map((ref) => `${ref}${end}`));

describe('a faulty row refuses all rows of its location, and no other', () => {
  /** A file of three sites. The rows of the second are 8 to 12. */
  const file = (change: (rows: Row[]) => Row[]): Row[] => [
    a.group('G'),
    ...site('A', 'G'),
    ...change(site('B', 'G')),
    ...site('C', 'G'),
  ];
  const changed = (at: number, more: Row) => (rows: Row[]) =>
    rows.map((row, i) => (i === at ? { ...row, ...more } : row));
  const added = (row: Row) => (rows: Row[]) => [...rows, row];

  test.each<[string, (rows: Row[]) => Row[], number, string]>([
    [
      'a location with an invalid field',
      changed(0, { timezone: 'Mars/Phobos' }),
      8,
      'timezone: must be an IANA time zone name, not "Mars/Phobos".',
    ],
    [
      'a zone with an invalid field',
      changed(1, { zone_kind: 'nowhere' }),
      9,
      'zone_kind: must be one of entrance, aisle, checkout, window, other, not "nowhere".',
    ],
    ['a screen with an invalid field', changed(2, { width_px: 0 }), 10, 'width_px: must be at least 1, not 0.'],
    [
      'an installation with an invalid field',
      changed(3, { status: 'off' }),
      11,
      'status: must be one of live, removed, not "off".',
    ],
    ['a camera with an invalid field', changed(4, { name: '' }), 12, 'name: must be text, not null.'],
    [
      'a row of an unknown kind',
      changed(2, { kind: 'scren' }),
      10,
      'kind: must be one of group, location, zone, screen, installation, camera, not "scren".',
    ],
    ['a group that does not exist', changed(0, { parent: 'H' }), 8, 'parent: there is no group H.'],
    [
      'an installation with a screen of another location',
      changed(3, { outputs: [{ output: 'X', screen: 'A-S' }] }),
      11,
      'outputs: there is no screen A-S in the location.',
    ],
    [
      'an installation with a screen that does not exist',
      changed(3, { outputs: [{ output: 'X', screen: 'B-X' }] }),
      11,
      'outputs: there is no screen B-X in the location.',
    ],
    ['a zone twice', added(a.zone('B-Z', 'B')), 13, 'external_id: row 9 is of the same zone already.'],
    [
      'a camera twice',
      added(a.camera('B-C', 'B-Z', device(999))),
      13,
      'external_id: row 12 is of the same camera already.',
    ],
    [
      'a screen before its zone',
      (rows) => [rows[0], rows[2], rows[1], ...rows.slice(3)] as Row[],
      9,
      'parent: its row comes after this one, in row 10.',
    ],
    [
      'a location after the rows of what is in it',
      (rows) => [...rows.slice(1, 2), rows[0], ...rows.slice(2)] as Row[],
      8,
      'parent: its row comes after this one, in row 9.',
    ],
    [
      'a screen without a size',
      changed(2, { height_px: undefined, width_px: undefined }),
      10,
      'width_px: must be a number, not null.',
    ],
    [
      'a screen in two live installations',
      added(a.installation('B-J', 'B', device(998), { outputs: [{ output: 'X', screen: 'B-S' }] })),
      13,
      'A screen is in another live installation: remove it there first.',
    ],
  ])('%s', async (_, change, faulty, reason) => {
    const tenant = newTenant(service);
    const rows = file(change);
    const { report, ...done } = await imported(tenant.owner, rows);
    const refused = rows.length - 11;
    expect([done.status, ...countsOf(done)]).toEqual(['succeeded', 11, 0, 0, refused]);
    expect(report.map(({ row, reason: why }) => [row, why])).toEqual(
      Array.from({ length: refused }, (__, at) => [8 + at, 8 + at === faulty ? reason : atFault(faulty)]),
    );
    expect(await exportedIds(tenant.owner)).toEqual(['G', ...inExportOrder('A', 'C')]);
    const events = (await tenant.events()).map(({ data }) => JSON.stringify(data));
    expect(events).toHaveLength(11);
    expect(events.filter((data) => data.includes('"external_id":"B'))).toEqual([]);
  });

  test('a device that is live elsewhere is reported for the row of its installation', async () => {
    const tenant = newTenant(service);
    const { location, installation } = await tenant.tree();
    const rows = file(added(a.installation('B-J', 'B', installation.device_id)));
    const { report, ...done } = await imported(tenant.owner, rows);
    expect(countsOf(done)).toEqual([11, 0, 0, 6]);
    const reason = 'The device is in another live installation: remove it there first.';
    expect(report.map(({ row, reason: why }) => [row, why])).toEqual([
      ...[8, 9, 10, 11, 12].map((row) => [row, atFault(13)]),
      [13, reason],
    ]);
    await tenant.owner.call(deleteInstallation, { params: { id: installation.id } });
    expect(countsOf(await imported(tenant.owner, rows))).toEqual([6, 0, 11, 0]);
    expect(location.external_id).toBeNull();
  });

  test('a wired screen stays in its location', async () => {
    const tenant = newTenant(service);
    await imported(tenant.owner, [a.group('G'), ...site('A', 'G'), ...site('B', 'G')]);
    const before = (await tenant.events()).length;
    const { report } = await imported(tenant.owner, [a.location('B', 'G', { name: 'New' }), a.screen('A-S', 'B-Z')]);
    expect(report.map(({ row, reason }) => [row, reason])).toEqual([
      [2, atFault(3)],
      [3, 'The screen is wired in an installation: change or delete that first.'],
    ]);
    expect(await tenant.events()).toHaveLength(before);
  });

  test('whichever row is faulty, nothing that exists is changed', async () => {
    const tenant = newTenant(service);
    await imported(tenant.owner, [a.group('G'), ...site('A', 'G')]);
    const [whole, before] = [await exported(tenant.owner), (await tenant.events()).length];
    const renamed = [
      a.location('A', 'G', { name: 'New' }),
      a.zone('A-Z', 'A', { name: 'New' }),
      a.screen('A-S', 'A-Z', { name: 'New' }),
    ];
    for (const at of renamed.keys()) {
      const rows = renamed.map((row, i) => (i === at ? { ...row, name: 'two\nlines' } : row));
      expect(countsOf(await imported(tenant.owner, rows))).toEqual([0, 0, 0, 3]);
      // Without the rows of its parents, the unit of a row follows from what exists.
      const [location] = rows;
      const own = rows[at];
      if (at > 0 && location && own)
        expect(countsOf(await imported(tenant.owner, [own, location]))).toEqual([0, 0, 0, 2]);
    }
    expect(await exported(tenant.owner)).toBe(whole);
    expect(await tenant.events()).toHaveLength(before);
  });

  test('when a zone has no external id, the rows of what is in it have no zone', async () => {
    const { report } = await imported(newTenant(service).owner, file(changed(1, { external_id: '' })));
    expect(report.map(({ row, reason }) => [row, reason])).toEqual([
      [8, atFault(9)],
      [9, 'external_id: is required.'],
      [10, 'parent: there is no zone B-Z.'],
      [11, atFault(9)],
      [12, 'parent: there is no zone B-Z.'],
    ]);
  });

  test('a zone with rows in two locations refuses both', async () => {
    const tenant = newTenant(service);
    const rows = [a.group('G'), ...site('A', 'G'), a.location('B', 'G'), a.zone('A-Z', 'B'), a.screen('S', 'A-Z')];
    const { report, ...done } = await imported(tenant.owner, rows);
    expect(countsOf(done)).toEqual([1, 0, 0, 8]);
    expect(report.find(({ row }) => row === 4)?.reason).toBe(
      'external_id: row 9 is of the same zone, in another location.',
    );
    expect(report.find(({ row }) => row === 9)?.reason).toBe('external_id: row 4 is of the same zone already.');
  });
});

describe('groups', () => {
  test('a faulty group is refused alone; the rows of what is in it have no parent', async () => {
    const tenant = newTenant(service);
    const rows = [a.group('G', { name: '' }), ...site('A', 'G'), a.group('H'), ...site('B', 'H')];
    const { report, ...done } = await imported(tenant.owner, rows);
    expect(countsOf(done)).toEqual([6, 0, 0, 6]);
    expect(report.map(({ row, reason }) => [row, reason])).toEqual([
      [2, 'name: must be text, not null.'],
      [3, 'parent: there is no group G.'],
      ...[4, 5, 6, 7].map((row) => [row, atFault(3)]),
    ]);
  });

  test('what is in a group that exists is set up even if the row of the group is refused', async () => {
    const tenant = newTenant(service);
    await tenant.group('G', { external_id: 'G' });
    const { report, ...done } = await imported(tenant.owner, [...site('A', 'G'), a.group('G', { name: 'two\nlines' })]);
    expect(countsOf(done)).toEqual([5, 0, 0, 1]);
    expect(report.map(({ row }) => row)).toEqual([7]);
  });

  test('a location before its group is refused if the group is new, and set up if the group exists', async () => {
    const tenant = newTenant(service);
    const rows = [...site('A', 'G'), a.group('G')];
    const first = await imported(tenant.owner, rows);
    expect(countsOf(first)).toEqual([1, 0, 0, 5]);
    expect(first.report[0]?.reason).toBe('parent: its row comes after this one, in row 7.');
    expect(countsOf(await imported(tenant.owner, rows))).toEqual([5, 0, 1, 0]);
    // The same holds for every other parent.
    const [location, zone, ...others] = rows;
    expect(countsOf(await imported(tenant.owner, [...others, zone as Row, location as Row]))).toEqual([0, 0, 6, 0]);
  });

  test.each([
    ['a group', (rows: Row[]) => ({ ...rows[0], parent: 'A' }), 'parent: a group has none.'],
    ['a location in itself', () => a.location('X', 'X'), 'parent: there is no group X.'],
    ['a zone in itself', () => a.zone('X', 'X'), 'parent: there is no location X.'],
    ['a screen in itself', () => a.screen('X', 'X'), 'parent: there is no zone X.'],
  ])('rows cannot form a cycle: %s', async (_, row, reason) => {
    const { report } = await imported(newTenant(service).owner, [row([a.group('G')]) as Row]);
    expect(report.map((one) => one.reason)).toEqual([reason]);
  });

  test('things of another account cannot be parents, by external id or id', async () => {
    const [tenant, other] = [newTenant(service), newTenant(service)];
    await imported(other.owner, [a.group('G'), ...site('A', 'G')]);
    const { group, location, zone, screen } = await other.tree();
    const foreign = [
      ...[
        a.location('1', group.id),
        a.zone('2', location.id),
        a.screen('3', zone.id),
        a.camera('4', zone.id, device(7)),
      ],
      ...[a.location('5', 'G'), a.zone('6', 'A'), a.screen('7', 'A-Z'), a.screen(screen.id, zone.id)],
    ];
    const whole = await exported(other.owner);
    const { report, ...done } = await imported(tenant.owner, foreign);
    expect(countsOf(done)).toEqual([0, 0, 0, foreign.length]);
    expect(report.map(({ reason }) => reason).filter((reason) => !/: there is no [a-z]+ /.test(reason))).toEqual([]);
    expect(await exported(other.owner)).toBe(whole);
  });

  test('two accounts may use the same names', async () => {
    const rows = [a.group('G'), ...site('A', 'G')];
    for (const { owner } of [newTenant(service), newTenant(service)])
      expect(countsOf(await imported(owner, rows))).toEqual([6, 0, 0, 0]);
  });
});

describe('a location with more rows than a transaction usually has', () => {
  const large = (last: Row) => [
    a.group('G'),
    ...site('A', 'G'),
    a.location('L', 'G'),
    a.zone('L-Z', 'L'),
    ...Array.from({ length: 2_100 }, (_, at) => a.screen(`L-S${at}`, 'L-Z')),
    last,
    ...site('B', 'G'),
  ];

  test('is set up whole', async () => {
    const tenant = await newTenant(service).withPlan();
    expect(countsOf(await imported(tenant.owner, large(a.screen('L-last', 'L-Z'))))).toEqual([2_114, 0, 0, 0]);
    expect((await tenant.events()).filter(({ type }) => type === 'screen.created')).toHaveLength(2_103);
  });

  test.each([
    ['size', a.screen('L-last', 'L-Z', { width_px: 0 })],
    ['output', a.installation('L-last', 'L', device(500), { outputs: [{ output: 'X', screen: 'A-S' }] })],
  ])('is not set up at all when its last row has a faulty %s', async (_, last) => {
    const tenant = newTenant(service);
    const { report, ...done } = await imported(tenant.owner, large(last));
    expect([countsOf(done), report.length]).toEqual([[11, 0, 0, 2_103], 2_103]);
    // Batches run concurrently, so the order of the locations is not defined.
    expect((await exportedIds(tenant.owner)).sort()).toEqual(['G', ...inExportOrder('A', 'B')].sort());
    expect(await tenant.events()).toHaveLength(11);
  });
});

describe('faulty files', () => {
  test.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
    ['is not UTF-8 further down', latin1(`${csv([a.group('G'), ...site('A', 'G')])}`), 'row 9: is not valid UTF-8.'],
    ['has a quote that is not closed', `${csv(manyGroups())}group,"G`, 'row 2002: opens a quote that is never closed.'],
  ])('a file that %s sets up nothing, and the error names the row', async (_, content, error) => {
    const tenant = newTenant(service);
    const done = await imported(tenant.owner, content);
    expect(done).toMatchObject({ status: 'failed', error, report: [], rows: { total: 0, created: 0, refused: 0 } });
    expect(await exportedIds(tenant.owner)).toEqual([]);
    expect(await tenant.events()).toEqual([]);
  });

  function manyGroups() {
    return Array.from({ length: 2_000 }, (_, at) => a.group(`G${at}`));
  }
  function latin1(text: string) {
    const lines = Buffer.from(`${text}${'group,H'.padEnd(70_000, ' ')}\n`);
    return new Uint8Array(Buffer.concat([lines, Buffer.from([0xe9, 0x0a])]));
  }

  test('external ids of 200 characters outside the BMP are kept whole', async () => {
    const tenant = newTenant(service);
    const [one, other] = [`${'🏪'.repeat(199)}1`, `${'🏪'.repeat(199)}2`];
    const rows = [a.group(one), a.group(other), a.location(one, one), a.location(other, other)];
    expect(countsOf(await imported(tenant.owner, rows))).toEqual([4, 0, 0, 0]);
    expect(await exportedIds(tenant.owner)).toEqual([one, other, one, other]);
  });

  test('a file with too many rows sets up nothing', async () => {
    const tenant = newTenant(service);
    const lines = Array.from({ length: 100_001 }, (_, at) => `group,G${at}`);
    const done = await imported(tenant.owner, ['kind,external_id', ...lines].join('\n'));
    expect(done).toMatchObject({
      status: 'failed',
      error: 'row 100002: is more than the 100000 records that a file may have.',
    });
    expect(await exportedIds(tenant.owner)).toEqual([]);
  });

  test.each([
    ['a cell of 1 MB', a.group('X', { name: 'x'.repeat(1_000_000) }), 'name: must have at most 200 characters.'],
    [
      'an external id that is too long, truncated beside a surrogate pair',
      a.zone(`${'x'.repeat(200)}🏪🏪`, `${'y'.repeat(200)}🏪🏪`),
      'external_id: must have at most 200 characters.',
    ],
    [
      'a kind that is truncated within a surrogate pair',
      { kind: `${'x'.repeat(58)}🏪`, external_id: 'X' },
      `kind: must be one of group, location, zone, screen, installation, camera, not "${'x'.repeat(58)}\uFFFD….`,
    ],
  ])('%s makes only its row faulty', async (_, row, reason) => {
    const tenant = newTenant(service);
    const { report, ...done } = await imported(tenant.owner, [a.group('G'), row]);
    expect([done.status, ...countsOf(done)]).toEqual(['succeeded', 1, 0, 0, 1]);
    expect(report.map((one) => [one.row, one.reason])).toEqual([[3, reason]]);
  });

  test('lines that are not JSON objects, and a wrong number of cells, make only their rows faulty', async () => {
    const json = `not JSON\n[]\n{"kind":"group"}\n${ndjson([a.group('G')])}{"kind":"group","external_id":"\\ud83d"}\n`;
    const first = await imported(newTenant(service).owner, json, { media: 'application/x-ndjson' });
    expect(countsOf(first)).toEqual([1, 0, 0, 4]);
    expect(first.report.map(({ row, reason }) => [row, reason])).toEqual([
      [1, 'is not valid JSON.'],
      [2, 'is not a JSON object.'],
      [3, 'external_id: is required.'],
      [5, 'record.external_id: contains half of a surrogate pair.'],
    ]);
    const cells = 'kind,external_id,name\ngroup,G\ngroup,H,A group,,\ngroup,I,A group\n';
    const second = await imported(newTenant(service).owner, cells);
    expect(second.report.map(({ row, reason }) => [row, reason])).toEqual([
      [2, 'has 2 cells, and the header has 3.'],
      [3, 'has 5 cells, and the header has 3.'],
    ]);
  });
});

test.each([1, 2, 3])('rows in any order with parents first set up the same estate (seed %i)', async (seed) => {
  const rows = [
    a.group('G'),
    a.group('H'),
    ...['A', 'B', 'C', 'D'].flatMap((ref, at) => site(ref, at % 2 ? 'H' : 'G')),
  ];
  const sorted = async (file: readonly Row[]) => {
    const { owner } = newTenant(service);
    expect(countsOf(await imported(owner, file))).toEqual([22, 0, 0, 0]);
    return (await exported(owner)).split('\n').sort();
  };
  const shuffled = shuffledWithin(rows, chanceFrom(seed));
  expect(shuffled).not.toEqual(rows);
  expect(await sorted(shuffled)).toEqual(await sorted(rows));
});
