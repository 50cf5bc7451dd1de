import { type EstateKind, estateColumns, estateKinds, estateMedia } from '@attribution/contracts';
import { describe, expect, test } from '@jest/globals';
import { readRow } from '../src/imports/row.ts';
import { a, device, type Row } from './support-imports.ts';

/** A row of each kind with the required fields, as in NDJSON. */
const least: Record<EstateKind, Row> = {
  group: a.group('X'),
  location: a.location('X', 'P'),
  zone: a.zone('X', 'P'),
  screen: a.screen('X', 'P'),
  installation: a.installation('X', 'P', device(1)),
  camera: a.camera('X', 'P', device(1)),
};

const ofJson = (row: object) => readRow(row as never, 'application/x-ndjson');
const ofCsv = (row: object) => readRow(row as never, 'text/csv');
const asText = (row: Row) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value as string | number)]));

const hours = { mon: [{ opens: '09:00', closes: '18:30' }] };
const wires = [{ output: 'HDMI-1', screen: 'S' }];
const long = 'x'.repeat(201);
const ours = (prefix: string) => `${prefix}_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f`;

type Value = unknown;
type Good = readonly [kind: EstateKind, column: string, json: Value, csv: string, kept?: Value];

/** Valid values: as JSON, as the text of a cell, and as they are read if that differs from the JSON. */
const good: readonly Good[] = [
  ...estateKinds.flatMap((kind): Good[] => [[kind, 'name', ' =1+1, "é" 🏪 ', ' =1+1, "é" 🏪 ', '=1+1, "é" 🏪']]),
  ['group', 'description', ' two\nlines ', ' two\nlines '],
  ['location', 'timezone', 'America/Argentina/Ushuaia', 'America/Argentina/Ushuaia'],
  ['location', 'address', 'Street 1\r\nZurich', 'Street 1\r\nZurich'],
  ['location', 'venue_type', 'retail.grocery', 'retail.grocery'],
  ['location', 'opening_hours', hours, JSON.stringify(hours)],
  ['location', 'opening_hours', {}, '{}'],
  ['location', 'status', 'inactive', 'inactive'],
  ['zone', 'zone_kind', 'checkout', 'checkout'],
  ['screen', 'tags', ['Window', 'eye level'], 'Window,eye level', ['eye-level', 'window']],
  ['screen', 'width_px', 1080, '1080'],
  ['screen', 'height_px', 65_535, '65535'],
  ['screen', 'accepted_formats', ['video/mp4', 'image/png'], 'video/mp4,image/png', ['image/png', 'video/mp4']],
  ['screen', 'audio', true, 'true'],
  ['screen', 'audio', false, 'false'],
  ['installation', 'device_id', device(2), device(2)],
  ['installation', 'status', 'removed', 'removed'],
  ['installation', 'outputs', wires, JSON.stringify(wires)],
  ['installation', 'outputs', [], '[]'],
  [
    'installation',
    'outputs',
    [{ output: 'HDMI-1', screen: ours('scr') }],
    `[{"output":"HDMI-1","screen":"${ours('scr')}"}]`,
  ],
  ['camera', 'device_id', device(2), device(2)],
];

test.each(good)('%s takes %s: %j in NDJSON, %j in a cell', (kind, column, json, csv, kept = json) => {
  const row = ofJson({ ...least[kind], [column]: json });
  expect(row).toMatchObject({ kind, ref: 'X', reason: undefined });
  expect(row.fields[column]).toEqual(kept);
  const cells = ofCsv({ ...asText(least[kind]), [column]: csv });
  expect([cells.reason, cells.fields]).toEqual([undefined, row.fields]);
});

test.each(['47.3686', '-0.5', '90', '1e-7', '1.2345678901234568e-10', '0.0000012345678901234567', '0'])(
  'a coordinate is read as an export writes it: %s',
  (text) => {
    const { fields, reason } = ofCsv({ ...asText(least.location), latitude: text, longitude: text });
    expect([reason, fields.latitude, fields.longitude]).toEqual([undefined, Number(text), Number(text)]);
    expect(String(fields.latitude)).toBe(text);
  },
);

type Bad = readonly [kind: EstateKind, column: string, csv: string, reason: string];

/** Cells that are refused, and the reason. */
const bad: readonly Bad[] = [
  ...estateKinds.flatMap((kind): Bad[] => [
    [kind, 'external_id', '', 'external_id: is required.'],
    [kind, 'external_id', ' ', 'external_id: must not be empty, not " ".'],
    [kind, 'external_id', long, 'external_id: must have at most 200 characters.'],
    [kind, 'external_id', 'a\nb', 'external_id: must be one line, without control characters, not "a\\nb".'],
    [kind, 'external_id', ours('dev'), `external_id: ${mustBe(kind)}, not "${ours('dev')}".`],
    [kind, 'name', long, 'name: must have at most 200 characters.'],
    [kind, 'name', 'a\nb', 'name: must be one line, without control characters, not "a\\nb".'],
  ]),
  ...(['location', 'zone', 'screen', 'installation', 'camera'] as const).flatMap((kind): Bad[] => [
    [kind, 'parent', '', 'parent: is required.'],
    [kind, 'parent', long, 'parent: must have at most 200 characters.'],
    [
      kind,
      'parent',
      ours(kind === 'location' ? 'loc' : 'grp'),
      `parent: ${mustBe(parentOf(kind))}, not "${ours(kind === 'location' ? 'loc' : 'grp')}".`,
    ],
  ]),
  ['group', 'parent', 'G', 'parent: a group has none.'],
  ['group', 'description', 'x'.repeat(2001), 'description: must have at most 2000 characters.'],
  ['location', 'timezone', 'Mars/Phobos', 'timezone: must be an IANA time zone name, not "Mars/Phobos".'],
  ['location', 'timezone', 'europe/zurich', 'timezone: must be an IANA time zone name, not "europe/zurich".'],
  ['location', 'address', 'x'.repeat(501), 'address: must have at most 500 characters.'],
  ['location', 'latitude', 'north', 'latitude: must be a number, not "north".'],
  ['location', 'latitude', '1,5', 'latitude: must be a number, not "1,5".'],
  ['location', 'latitude', ' 1', 'latitude: must be a number, not " 1".'],
  ['location', 'latitude', '0x10', 'latitude: must be a number, not "0x10".'],
  ['location', 'latitude', '1e5', 'latitude: must be a number, not "1e5".'],
  ['location', 'latitude', 'NaN', 'latitude: must be a number, not "NaN".'],
  ['location', 'latitude', '90.1', 'latitude: must be at most 90, not 90.1.'],
  ['location', 'latitude', '47', 'longitude: must be given with latitude.'],
  ['location', 'longitude', '-180.5', 'longitude: must be at least -180, not -180.5.'],
  ['location', 'longitude', '8', 'latitude: must be given with longitude.'],
  [
    'location',
    'venue_type',
    'shop',
    'venue_type: must be a venue type of OpenOOH 1.1, such as retail.grocery, not "shop".',
  ],
  ['location', 'opening_hours', 'always', 'opening_hours: is not valid JSON.'],
  ['location', 'opening_hours', '"always"', 'opening_hours: must be an object, not "always".'],
  [
    'location',
    'opening_hours',
    '{"mon":[{"opens":"9:00","closes":"18:00"}]}',
    'opening_hours.mon[0].opens: must be a time of day (HH:MM), not "9:00".',
  ],
  ['location', 'status', 'closed', 'status: must be one of active, inactive, not "closed".'],
  [
    'zone',
    'zone_kind',
    'Food court',
    'zone_kind: must be one of entrance, aisle, checkout, window, other, not "Food court".',
  ],
  ['screen', 'tags', 'a/b', 'tags[0]: must have letters, digits and - _ . : only, not "a/b".'],
  ['screen', 'tags', 'a,,b', 'tags[1]: must not be empty, not "".'],
  ['screen', 'width_px', '1.5', 'width_px: must be a whole number, not 1.5.'],
  ['screen', 'width_px', '0', 'width_px: must be at least 1, not 0.'],
  ['screen', 'height_px', '65536', 'height_px: must be at most 65535, not 65536.'],
  ['screen', 'height_px', 'tall', 'height_px: must be a number, not "tall".'],
  ['screen', 'width_px', '', 'width_px: must be a number, not null.'],
  [
    'screen',
    'accepted_formats',
    'image/tiff',
    'accepted_formats[0]: must be one of image/jpeg, image/png, image/webp, image/gif, video/mp4, video/webm, not "image/tiff".',
  ],
  ['screen', 'audio', 'yes', 'audio: must be true or false, not "yes".'],
  ['screen', 'audio', 'TRUE', 'audio: must be true or false, not "TRUE".'],
  ['installation', 'device_id', 'player-1', 'device_id: must be a device id (dev_…), not "player-1".'],
  ['installation', 'status', 'off', 'status: must be one of live, removed, not "off".'],
  ['installation', 'outputs', 'HDMI-1', 'outputs: is not valid JSON.'],
  ['installation', 'outputs', '{}', 'outputs: must be an array.'],
  [
    'installation',
    'outputs',
    '[{"output":"A","screen":"S"},{"output":"A","screen":"T"}]',
    'outputs: must name each output and each screen once.',
  ],
  [
    'installation',
    'outputs',
    '[{"output":"A","screen":"S"},{"output":"B","screen":" S "}]',
    'outputs: must name each output and each screen once.',
  ],
  [
    'installation',
    'outputs',
    `[{"output":"A","screen":"${ours('ins')}"}]`,
    `outputs[0].screen: must be a screen id (scr_…), not "${ours('ins')}".`,
  ],
  ['installation', 'outputs', '[{"output":"A","screen":""}]', 'outputs[0].screen: must not be empty, not "".'],
  [
    'installation',
    'outputs',
    String.raw`[{"output":"\ud83d","screen":"S"}]`,
    'outputs: has text or numbers that cannot be kept.',
  ],
  ['installation', 'outputs', '[{"output":1e999,"screen":"S"}]', 'outputs: has text or numbers that cannot be kept.'],
  ['camera', 'device_id', 'dev_1', 'device_id: must be a device id (dev_…), not "dev_1".'],
  ...estateKinds
    .filter((kind) => kind !== 'installation')
    .map((kind): Bad => [kind, 'name', '', 'name: must be text, not null.']),
];

function mustBe(kind: EstateKind): string {
  const prefix = { group: 'grp', location: 'loc', zone: 'zon', screen: 'scr', installation: 'ins', camera: 'cam' }[
    kind
  ];
  return `must be ${kind === 'installation' ? 'an' : 'a'} ${kind} id (${prefix}_…)`;
}

function parentOf(kind: EstateKind): EstateKind {
  if (kind === 'location') return 'group';
  return kind === 'zone' || kind === 'installation' ? 'location' : 'zone';
}

test.each(bad)('%s refuses %s %j: %s', (kind, column, cell, reason) => {
  const read = ofCsv({ ...asText(least[kind]), [column]: cell });
  expect(read).toMatchObject({ kind, reason, fields: {} });
});

describe('empty', () => {
  test.each<[EstateKind, Row]>([
    ['group', { description: null }],
    [
      'location',
      { address: null, latitude: null, longitude: null, venue_type: null, opening_hours: null, status: 'active' },
    ],
    ['zone', { zone_kind: 'other' }],
    ['screen', { tags: [], accepted_formats: ['image/jpeg', 'image/png', 'video/mp4'], audio: false }],
    ['installation', { name: null, status: 'live', outputs: [] }],
    ['camera', {}],
  ])('an empty cell and a null of a %s reset the field to null or its default', (kind, unset) => {
    const names = Object.keys(unset);
    const json = ofJson({ ...least[kind], ...Object.fromEntries(names.map((name) => [name, null])) });
    const cells = ofCsv({ ...asText(least[kind]), ...Object.fromEntries(names.map((name) => [name, ''])) });
    for (const { reason, fields } of [json, cells]) {
      expect(reason).toBeUndefined();
      expect(fields).toMatchObject(unset);
    }
  });

  test.each(estateKinds)('a column that the file does not have leaves the field of a %s out', (kind) => {
    const { kind: _, external_id: __, parent: ___, ...fields } = least[kind];
    expect(ofJson(least[kind]).fields).toEqual(fields);
  });

  test('an empty time zone is left out, because a location always has one', () => {
    for (const { reason, fields } of [
      ofJson({ ...least.location, timezone: null }),
      ofCsv({ ...asText(least.location), timezone: '' }),
    ])
      expect([reason, 'timezone' in fields]).toEqual([undefined, false]);
  });

  test('an empty text is not null in NDJSON', () => {
    expect(ofJson({ ...least.group, description: '' }).fields.description).toBe('');
    expect(ofJson({ ...least.group, name: '' }).reason).toBe('name: must not be empty, not "".');
    expect(ofJson({ ...least.screen, audio: '' }).reason).toBe('audio: must be true or false, not "".');
  });
});

describe('columns', () => {
  const texts: Record<string, string> = { opening_hours: '{}', outputs: '[]', audio: 'true', tags: 'a' };
  const sample = (column: string) => texts[column] ?? '1';

  test.each(estateKinds)('a %s must leave the columns of other kinds empty', (kind) => {
    const whole = { ...least[kind] };
    const known = new Set([...Object.keys(whole), ...good.filter(([one]) => one === kind).map(([, column]) => column)]);
    const coordinates = kind === 'location' ? ['latitude', 'longitude'] : [];
    const others = estateColumns.filter((column) => !known.has(column) && !coordinates.includes(column));
    expect(others.length).toBeGreaterThan(5);
    for (const column of others) {
      expect(ofCsv({ ...asText(whole), [column]: '' }).reason).toBeUndefined();
      expect(ofJson({ ...whole, [column]: null }).reason).toBeUndefined();
      expect(ofCsv({ ...asText(whole), [column]: sample(column) }).reason).toBe(`${column}: a ${kind} has none.`);
    }
  });

  test('a member that is not a column is refused in NDJSON, unless it is null', () => {
    expect(ofJson({ ...least.group, colour: 'red' }).reason).toBe('colour: there is no such column.');
    expect(ofJson({ ...least.group, colour: null }).reason).toBeUndefined();
    expect(ofJson({ ...least.group, group_id: ours('grp') }).reason).toBe('group_id: there is no such column.');
  });
});

describe('kind', () => {
  test.each([
    ['Location', 'not "Location"'],
    ['', 'not empty'],
    [undefined, 'not empty'],
    [null, 'not empty'],
    [7, 'not 7'],
    ['x'.repeat(100), `not "${'x'.repeat(59)}…`],
    [`${'x'.repeat(58)}🏪`, `not "${'x'.repeat(58)}\uFFFD…`],
  ])('%j is refused', (kind, shown) => {
    const read = ofJson({ external_id: 'X', parent: 'P', kind });
    expect(read.reason).toBe(`kind: must be one of ${estateKinds.join(', ')}, ${shown}.`);
    expect(read).toMatchObject({ kind: undefined, ref: 'X', parent: 'P' });
  });
});

describe('refs', () => {
  test.each(estateMedia)('refs are trimmed, also in faulty rows: %s', (media) => {
    const row = { kind: 'zone', external_id: ' X ', parent: ' P ', name: 'A zone' };
    expect(readRow(row, media)).toMatchObject({ ref: 'X', parent: 'P', reason: undefined });
    expect(readRow({ ...row, zone_kind: 'nowhere' }, media)).toMatchObject({ ref: 'X', parent: 'P' });
    expect(readRow({ ...row, kind: 'Zone' }, media)).toMatchObject({ ref: 'X', parent: 'P' });
  });

  test('an id of the platform names a thing without an external id', () => {
    const row = { ...least.screen, external_id: ours('scr'), parent: ours('zon') };
    expect(ofJson(row)).toMatchObject({ ref: ours('scr'), parent: ours('zon'), reason: undefined });
  });

  test('a value that is not text is no ref', () => {
    const { ref, parent, reason } = ofJson({ ...least.screen, external_id: 7, parent: ['Z'] });
    expect([ref, parent, reason]).toEqual(['', undefined, 'external_id: must be text, not 7.']);
  });
});
