import { estateColumns, exportEstate } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { newTenant, startOrganization } from './support.ts';
import { a, device, exported, exportedRows, imported, site, waitsForLock } from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const header = `${estateColumns.join(',')}\n`;

/** An account with two groups: a location in the one, two in the other. */
async function estate() {
  const tenant = newTenant(service);
  await imported(tenant.owner, [
    ...[a.group('A'), a.group('B'), ...site('A1', 'A'), ...site('B1', 'B'), ...site('B2', 'B')],
  ]);
  const { rows } = await service.db.query<{ id: string; external_id: string }>(
    'SELECT id, external_id FROM groups WHERE account_id = $1',
    [tenant.account],
  );
  const ids = new Map(rows.map(({ id, external_id }) => [external_id, id]));
  return { ...tenant, groupA: ids.get('A') ?? '', groupB: ids.get('B') ?? '' };
}

test('200: a CSV with all columns, kinds in the order in which an import takes them', async () => {
  const { owner } = newTenant(service);
  const hours = { mon: [{ opens: '09:00', closes: '18:30' }] };
  await imported(owner, [
    a.group('G', { description: 'two\nlines' }),
    a.location('L', 'G', { latitude: 47.3686, longitude: -8.5, venue_type: 'retail.grocery', opening_hours: hours }),
    a.zone('Z', 'L', { zone_kind: 'window' }),
    a.screen('S', 'Z', { tags: 'window,Eye Level', audio: true, accepted_formats: 'video/mp4' }),
    a.installation('I', 'L', device(1), { outputs: [{ output: 'B', screen: 'S' }], status: 'removed' }),
    a.camera('C', 'Z', device(2)),
  ]);
  const { headers, body, status } = await owner.call(exportEstate);
  expect([status, body.media, body.filename]).toEqual([200, 'text/csv', 'estate.csv']);
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(body.text).toBe(
    `${header}${[
      'group,G,,A group,"two\nlines",,,,,,,,,,,,,,,',
      'location,L,G,A location,,Europe/Zurich,,47.3686,-8.5,retail.grocery,"{""mon"":[{""opens"":""09:00"",""closes"":""18:30""}]}",active,,,,,,,,',
      'zone,Z,L,A zone,,,,,,,,,window,,,,,,,',
      'screen,S,Z,A screen,,,,,,,,,,"eye-level,window",1920,1080,video/mp4,true,,',
      `installation,I,L,,,,,,,,,removed,,,,,,,${device(1)},"[{""output"":""B"",""screen"":""S""}]"`,
      `camera,C,Z,A camera,,,,,,,,,,,,,,,${device(2)},`,
    ].join('\n')}\n`,
  );
});

test('a spreadsheet runs no cell of a CSV, and an import reads each as it was', async () => {
  const { owner } = newTenant(service);
  const names = ['=1+1', '+1', '-1', '@SUM(1)', "'=1", "''=1", "'", '＝1', 'a=1', "'a"];
  const rows = [
    ...names.map((name, i) => a.group(`${name}#${i}`, { name, description: `${name}\n=2` })),
    a.location('L', '=1+1#0', { latitude: -33.86, longitude: -8.5 }),
    a.zone('Z', 'L'),
    a.screen('S', 'Z', { tags: ['-a', 'b'] }),
    a.installation('I', 'L', device(3), { outputs: [{ output: '=A', screen: 'S' }] }),
  ];
  expect((await imported(owner, rows, { media: 'application/x-ndjson' })).report).toEqual([]);
  const text = await exported(owner);
  // Numbers stay numbers: a negative coordinate is no formula.
  const cells = (parse(text) as string[][]).flat().filter((cell) => !/^-\d+\.\d+$/.test(cell));
  expect(cells.filter((cell) => /^[=+\-@\t\r＝]/.test(cell))).toEqual([]);
  expect(cells).toEqual(
    expect.arrayContaining(["'=1+1", "'+1", "'-1", "'@SUM(1)", "''=1", "'''=1", "'", 'a=1', "'-a,b"]),
  );

  const again = newTenant(service).owner;
  expect((await imported(again, text.replaceAll(device(3), device(4)))).report).toEqual([]);
  expect((await exported(again)).replaceAll(device(4), device(3))).toBe(text);
  const { body } = await again.call(exportEstate, { query: { format: 'ndjson' } });
  const read = body.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; name: string });
  expect(
    read
      .filter(({ kind }) => kind === 'group')
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(names.toSorted());
});

test('200: NDJSON has the members of each kind alone, in their own types', async () => {
  const { owner } = newTenant(service);
  await imported(owner, [a.group('G'), a.location('L', 'G'), a.zone('Z', 'L'), a.screen('S', 'Z')]);
  const { body } = await owner.call(exportEstate, { query: { format: 'ndjson' } });
  expect([body.media, body.filename]).toEqual(['application/x-ndjson', 'estate.ndjson']);
  const formats = ['image/jpeg', 'image/png', 'video/mp4'];
  expect(
    body.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { kind: 'group', external_id: 'G', name: 'A group', description: null },
    {
      ...{ kind: 'location', external_id: 'L', parent: 'G', name: 'A location', timezone: 'Europe/Zurich' },
      ...{ address: null, latitude: null, longitude: null, venue_type: null, opening_hours: null, status: 'active' },
    },
    { kind: 'zone', external_id: 'Z', parent: 'L', name: 'A zone', zone_kind: 'other' },
    {
      ...{ kind: 'screen', external_id: 'S', parent: 'Z', name: 'A screen', tags: [], width_px: 1920 },
      ...{ height_px: 1080, accepted_formats: formats, audio: false },
    },
  ]);
});

test('a thing without an external id is exported by its id, also as a parent', async () => {
  const tenant = newTenant(service);
  const { group, location, zone, screen, installation, camera } = await tenant.tree();
  const rows = await exportedRows(tenant.owner);
  expect(rows.map(({ external_id, parent }) => [external_id, parent])).toEqual([
    [group.id, ''],
    [location.id, group.id],
    [zone.id, location.id],
    [screen.id, zone.id],
    [installation.id, location.id],
    [camera.id, zone.id],
  ]);
  expect(JSON.parse(rows[4]?.outputs ?? '')).toEqual([{ output: 'HDMI-1', screen: screen.id }]);
});

describe('an export has exactly what the caller sees', () => {
  const refs = async (caller: Parameters<typeof exportedRows>[0], query: Record<string, string> = {}) =>
    (await exportedRows(caller, query)).map(({ external_id }) => external_id);
  const ofB = ['B', 'B1', 'B2', 'B1-Z', 'B2-Z', 'B1-S', 'B2-S', 'B1-I', 'B2-I', 'B1-C', 'B2-C'];

  test('a narrowed person exports the visible groups; a person who sees no group, the header alone', async () => {
    const tenant = await estate();
    expect(await refs(tenant.narrowed({ [tenant.groupB]: 'm' }))).toEqual(ofB);
    expect(await refs(tenant.key({ group_scope: 'selected', groups: { [tenant.groupB]: 'm' } }))).toEqual(ofB);
    expect(await refs(tenant.owner)).toHaveLength(17);
    expect(await exported(tenant.narrowed({}))).toBe(header);
    expect(await exported(tenant.narrowed({}), { format: 'ndjson' })).toBe('');
    expect(await exported(newTenant(service).owner)).toBe(header);
  });

  test('group_ids narrows further, and never widens', async () => {
    const tenant = await estate();
    const { owner, groupA, groupB } = tenant;
    expect(await refs(owner, { group_ids: groupB })).toEqual(ofB);
    expect(await refs(owner, { group_ids: `${groupB},${newId('group')}` })).toEqual(ofB);
    expect(await refs(owner, { group_ids: `${groupB},${groupA},${groupB}` })).toHaveLength(17);
    expect(await exported(tenant.narrowed({ [groupA]: 'a' }), { group_ids: groupB })).toBe(header);
    expect(await exported(newTenant(service).owner, { group_ids: groupB })).toBe(header);
  });
});

test('an export is a snapshot: what others commit while it is written is not in it', async () => {
  const tenant = newTenant(service);
  await tenant.tree();
  const client = await service.db.connect();
  await client.query('BEGIN; LOCK TABLE cameras IN ACCESS EXCLUSIVE MODE');
  const exporting = exportedRows(tenant.owner);
  await waitsForLock(service, 'cameras');
  const group = await tenant.group();
  const location = await tenant.location(group.id);
  const zone = await tenant.zone(location.id);
  const at = new Date();
  const camera = {
    ...{ id: newId('camera'), account_id: tenant.account, group_id: group.id, location_id: location.id },
    ...{ zone_id: zone.id, device_id: device(1), name: 'New', aggregate_version: 1, created_at: at, updated_at: at },
  };
  const sql = 'INSERT INTO cameras SELECT * FROM jsonb_populate_record(NULL::cameras, $1::jsonb)';
  await client.query(sql, [JSON.stringify(camera)]);
  await client.query('COMMIT');
  client.release();
  expect(await exporting).toHaveLength(6);
  expect(await exportedRows(tenant.owner)).toHaveLength(10);
});

test.each([
  ['format', 'xlsx'],
  ['group_ids', 'G'],
  ['group_ids', ''],
])('400: %s=%s', async (name, value) => {
  const { status } = await newTenant(service).owner.call(exportEstate, { query: { [name]: value } });
  expect(status).toBe(400);
});
