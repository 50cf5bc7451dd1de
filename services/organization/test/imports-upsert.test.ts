import { getLocation, listInstallations, listLocations, listScreens, listZones } from '@attribution/contracts';
import { chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, startOrganization, type Tenant } from './support.ts';
import { randomEstate } from './support-estates.ts';
import {
  a,
  countsOf,
  device,
  eventsSince,
  exported,
  exportedRows,
  imported,
  type Row,
  site,
} from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const estate = [a.group('G'), a.group('H'), ...site('A', 'G'), ...site('B', 'H')];

async function settled(rows: readonly Row[] = estate) {
  const tenant = newTenant(service);
  expect(countsOf(await imported(tenant.owner, rows))).toEqual([rows.length, 0, 0, 0]);
  return { tenant, before: (await tenant.events()).length };
}

const versions = async ({ account }: Tenant) => {
  const tables = ['groups', 'locations', 'zones', 'screens', 'installations', 'cameras'];
  const sql = tables
    .map(
      (table) =>
        `SELECT coalesce(external_id, id) AS ref, aggregate_version AS version FROM ${table} WHERE account_id = $1`,
    )
    .join(' UNION ALL ');
  const { rows } = await service.db.query<{ ref: string; version: number }>(sql, [account]);
  return new Map(rows.map(({ ref, version }) => [ref, version]));
};

test('the same file again changes nothing, publishes nothing, and counts no version', async () => {
  const { tenant, before } = await settled();
  expect(countsOf(await imported(tenant.owner, estate))).toEqual([0, 0, 12, 0]);
  expect(await eventsSince(tenant, before)).toEqual([]);
  expect(new Set((await versions(tenant)).values())).toEqual(new Set([1]));
});

test.each<[string, Row, string]>([
  ['group', { description: 'New' }, 'G'],
  ['location', { address: 'New' }, 'A'],
  ['zone', { zone_kind: 'aisle' }, 'A-Z'],
  ['screen', { tags: ['new'] }, 'A-S'],
  ['installation', { outputs: [] }, 'A-I'],
  ['camera', { name: 'New' }, 'A-C'],
])('one field of a %s that differs is one update, one version and one event', async (kind, more, ref) => {
  const { tenant, before } = await settled();
  const changed = estate.map((row) => (row.external_id === ref ? { ...row, ...more } : row));
  expect(countsOf(await imported(tenant.owner, changed, { media: 'application/x-ndjson' }))).toEqual([0, 1, 11, 0]);
  expect(await eventsSince(tenant, before)).toEqual([`${kind}.updated`]);
  const bumped = [...(await versions(tenant))].filter(([, version]) => version !== 1);
  expect(bumped).toEqual([[ref, 2]]);
});

test('fields without a column in the file are kept, empty cells unset theirs', async () => {
  const full: Row = {
    ...{ address: 'Street', latitude: 1, longitude: 2, venue_type: 'retail', status: 'inactive' },
    opening_hours: { mon: [] },
  };
  const { tenant } = await settled([
    a.group('G', { description: 'Words' }),
    a.location('L', 'G', full),
    a.zone('Z', 'L', { zone_kind: 'window' }),
    a.screen('S', 'Z', { tags: 'a,b', audio: true, accepted_formats: 'video/webm' }),
    a.installation('I', 'L', device(1), { name: 'Player', outputs: [{ output: 'X', screen: 'S' }], status: 'removed' }),
  ]);
  const names: Row[] = [
    { kind: 'group', external_id: 'G', name: 'New' },
    { kind: 'location', external_id: 'L', parent: 'G', name: 'New' },
    { kind: 'zone', external_id: 'Z', parent: 'L', name: 'New' },
    { kind: 'screen', external_id: 'S', parent: 'Z', name: 'New' },
    { kind: 'installation', external_id: 'I', parent: 'L', name: 'New' },
  ];
  const before = await exportedRows(tenant.owner);
  expect(countsOf(await imported(tenant.owner, names))).toEqual([0, 5, 0, 0]);
  expect(await exportedRows(tenant.owner)).toEqual(before.map((row) => ({ ...row, name: 'New' })));

  const empty = {
    description: '',
    address: '',
    latitude: '',
    longitude: '',
    venue_type: '',
    opening_hours: '',
    status: '',
  };
  const more = { zone_kind: '', tags: '', accepted_formats: '', audio: '', outputs: '' };
  expect(
    countsOf(
      await imported(
        tenant.owner,
        names.map((row) => ({ ...row, ...empty, ...more })),
      ),
    ),
  ).toEqual([0, 5, 0, 0]);
  const [group, location, zone, screen, installation] = await exportedRows(tenant.owner);
  expect([group?.description, location, zone?.zone_kind]).toEqual([
    '',
    { ...before[1], name: 'New', ...empty, status: 'active' },
    'other',
  ]);
  expect(screen).toMatchObject({ tags: '', accepted_formats: 'image/jpeg,image/png,video/mp4', audio: 'false' });
  expect(installation).toMatchObject({ status: 'live', outputs: '[]' });
});

describe('moves', () => {
  test('a location to another group, with everything in it, by one event', async () => {
    const { tenant, before } = await settled();
    expect(countsOf(await imported(tenant.owner, [a.location('A', 'H')]))).toEqual([0, 1, 0, 0]);
    expect(await eventsSince(tenant, before)).toEqual(['location.updated']);
    const rows = await exportedRows(tenant.owner);
    expect(rows.filter(({ kind }) => kind === 'location').map(({ parent }) => parent)).toEqual(['H', 'H']);
    const { entries } = (await tenant.owner.call(listScreens)).body;
    const { rows: screens } = await service.db.query('SELECT DISTINCT group_id FROM screens WHERE account_id = $1', [
      tenant.account,
    ]);
    expect([entries.length, screens.length]).toEqual([2, 1]);
    // Back again, with the rows of what is in it.
    const back = estate.map((row) => (row.kind === 'location' ? { ...row, parent: 'G' } : row));
    expect(countsOf(await imported(tenant.owner, back))).toEqual([0, 2, 10, 0]);
  });

  test('only by an admin of both groups', async () => {
    const { tenant } = await settled();
    const { rows } = await service.db.query<{ id: string; external_id: string }>(
      'SELECT id, external_id FROM groups WHERE account_id = $1 ORDER BY external_id',
      [tenant.account],
    );
    const [g, h] = rows.map(({ id }) => id) as [string, string];
    const moved = [a.location('A', 'H')];
    for (const groups of [{ [g]: 'a', [h]: 'm' }, { [g]: 'm', [h]: 'a' }, { [g]: 'a' }])
      expect(countsOf(await imported(tenant.narrowed(groups), moved))).toEqual([0, 0, 0, 1]);
    expect(countsOf(await imported(tenant.narrowed({ [g]: 'a', [h]: 'a' }), moved))).toEqual([0, 1, 0, 0]);
  });

  test('a screen and a camera to another zone, also of another location, once the screen is not wired', async () => {
    const { tenant } = await settled();
    const more = [a.zone('A-Y', 'A'), a.screen('A-S', 'A-Y'), a.camera('A-C', 'A-Y', device(77))];
    expect(countsOf(await imported(tenant.owner, more))).toEqual([1, 2, 0, 0]);
    const loose = [{ kind: 'installation', external_id: 'A-I', parent: 'A', outputs: [] }];
    await imported(tenant.owner, loose);
    expect(
      countsOf(await imported(tenant.owner, [a.screen('A-S', 'B-Z'), a.camera('A-C', 'B-Z', device(77))])),
    ).toEqual([0, 2, 0, 0]);
    const { entries } = (await tenant.owner.call(listScreens)).body;
    expect(new Set(entries.map(({ location_id }) => location_id)).size).toBe(1);
  });

  test('a device and its screens from a removed installation to a new one, in one file', async () => {
    const { tenant } = await settled();
    const [old] = estate.filter(({ external_id }) => external_id === 'A-I');
    const replaced = (first: boolean) => {
      const rows = [
        { ...old, status: 'removed' },
        { ...old, external_id: 'A-J', status: 'live' },
      ];
      return first ? rows : rows.reverse();
    };
    expect(countsOf(await imported(tenant.owner, replaced(true)))).toEqual([1, 1, 0, 0]);
    const swapped = replaced(false).map((row) => ({ ...row, status: row.status === 'live' ? 'removed' : 'live' }));
    expect(countsOf(await imported(tenant.owner, swapped))).toEqual([0, 2, 0, 0]);
    expect(countsOf(await imported(tenant.owner, swapped))).toEqual([0, 0, 2, 0]);
    const { entries } = (await tenant.owner.call(listInstallations, { query: { status: 'live' } })).body;
    expect(entries.map(({ external_id }) => external_id).sort()).toEqual(['A-I', 'B-I']);
  });

  test('screens from one live installation to another, in one file', async () => {
    const { tenant } = await settled();
    const rows = [
      {
        kind: 'installation',
        external_id: 'A-J',
        parent: 'A',
        device_id: device(70),
        outputs: [{ output: 'X', screen: 'A-S' }],
      },
      { kind: 'installation', external_id: 'A-I', parent: 'A', outputs: [] },
    ];
    const media = 'application/x-ndjson';
    expect(countsOf(await imported(tenant.owner, rows, { media }))).toEqual([1, 1, 0, 0]);
    const swapped = rows.map((row, at) => ({ ...row, outputs: rows[1 - at]?.outputs }));
    expect(countsOf(await imported(tenant.owner, swapped, { media }))).toEqual([0, 2, 0, 0]);
  });
});

describe('our own ids', () => {
  test('a thing without an external id is exported by its id, and imported again unchanged', async () => {
    const tenant = newTenant(service);
    await tenant.tree();
    const before = (await tenant.events()).length;
    for (const format of ['csv', 'ndjson'] as const) {
      const media = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
      const text = await exported(tenant.owner, { format });
      expect(countsOf(await imported(tenant.owner, text, { media }))).toEqual([0, 0, 6, 0]);
    }
    expect(await eventsSince(tenant, before)).toEqual([]);
  });

  test('it is changed by its id, and gets no external id', async () => {
    const tenant = newTenant(service);
    const { group, location } = await tenant.tree();
    const rows = [a.location(location.id, group.id, { name: 'New' }), a.zone('NEW', location.id)];
    expect(countsOf(await imported(tenant.owner, rows))).toEqual([1, 1, 0, 0]);
    const { body } = await tenant.owner.call(getLocation, { params: { id: location.id } });
    expect([body.name, body.external_id]).toEqual(['New', null]);
    const zones = (await tenant.owner.call(listZones, { query: { location_ids: location.id } })).body.entries;
    expect(zones.map(({ external_id }) => external_id)).toEqual([null, 'NEW']);
  });

  test('a thing with an external id cannot be named by its id', async () => {
    const { tenant } = await settled();
    const [location] = (await tenant.owner.call(listLocations)).body.entries;
    const { report } = await imported(tenant.owner, [a.location(location?.id ?? '', 'G')]);
    expect(report.map(({ reason }) => reason)).toEqual([`external_id: there is no location ${location?.id}.`]);
  });

  test('external ids are trimmed, so that they are found again', async () => {
    const { tenant } = await settled([a.group(' G '), a.location(' L', 'G '), a.zone('Z\t'.trim(), ' L ')]);
    expect((await exportedRows(tenant.owner)).map(({ external_id, parent }) => [external_id, parent])).toEqual([
      ['G', ''],
      ['L', 'G'],
      ['Z', 'L'],
    ]);
  });
});

test('latitudes that are written with an exponent, such as 1e-7, survive a round trip', async () => {
  const { tenant } = await settled([
    a.group('G'),
    a.location('L', 'G', { latitude: 1e-7, longitude: -1.234_567_890_123_456e-6 }),
  ]);
  expect(countsOf(await imported(tenant.owner, await exported(tenant.owner)))).toEqual([0, 0, 2, 0]);
});

describe.each([1, 2, 3, 4])('a random estate (seed %i)', (seed) => {
  test.each([
    ['csv', 'text/csv'],
    ['ndjson', 'application/x-ndjson'],
  ] as const)(
    'exported as %s, imported into another account and exported again is the same, byte for byte',
    async (format, media) => {
      const { tenant } = await settled(randomEstate(chanceFrom(seed)));
      const text = await exported(tenant.owner, { format });
      const lines = await exportedRows(tenant.owner);
      const other = newTenant(service);
      const { report, ...done } = await imported(other.owner, text, { media });
      expect([report, countsOf(done)]).toEqual([[], [lines.length, 0, 0, 0]]);
      expect(await exported(other.owner, { format })).toBe(text);
      const before = (await other.events()).length;
      expect(countsOf(await imported(other.owner, text, { media }))).toEqual([0, 0, lines.length, 0]);
      expect(await eventsSince(other, before)).toEqual([]);
    },
  );
});
