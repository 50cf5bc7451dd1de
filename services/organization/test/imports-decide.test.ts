import { type EstateKind, estateKinds } from '@attribution/contracts';
import { describe, expect, test } from '@jest/globals';
import { type Columns, decide } from '../src/imports/decide.ts';
import type { Grants } from '../src/imports/grants.ts';
import type { RowFields } from '../src/imports/row.ts';
import { device } from './support-imports.ts';

const now = new Date('2026-03-01T09:00:00Z');
const before = new Date('2026-01-01T09:00:00Z');
const ours = (prefix: string) => `${prefix}_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f`;
const wires = [{ output: 'HDMI-1', screen_id: 'scr_1' }];

/** An existing thing of each kind, in group G, location L and zone Z. */
const existingOf = {
  group: { id: 'G', name: 'Name', description: null },
  location: {
    ...{ id: 'L', group_id: 'G', name: 'Name', timezone: 'UTC', address: null, latitude: 1, longitude: 2 },
    ...{ venue_type: 'retail', venue_taxonomy: 'older', opening_hours: { mon: [] }, status: 'active' },
  },
  zone: { id: 'Z', group_id: 'G', location_id: 'L', name: 'Name', kind: 'window' },
  screen: {
    ...{ id: 'S', group_id: 'G', location_id: 'L', zone_id: 'Z', name: 'Name', tags: ['a'] },
    ...{ width_px: 2, height_px: 1, orientation: 'landscape', accepted_formats: ['image/png'], audio: false },
  },
  installation: {
    ...{ id: 'I', group_id: 'G', location_id: 'L', name: null, device_id: device(1), live: true },
    ...{ installed_at: before, removed_at: null, outputs: wires },
  },
  camera: { id: 'C', group_id: 'G', location_id: 'L', zone_id: 'Z', name: 'Name', device_id: device(1) },
} satisfies Record<EstateKind, object>;
const rowOf = (kind: EstateKind) => existingOf[kind] as unknown as Columns;

const parents = {
  group: undefined,
  location: 'group',
  zone: 'location',
  screen: 'zone',
  installation: 'location',
  camera: 'zone',
} as const;
const parentOf = (kind: EstateKind) => (parents[kind] ? rowOf(parents[kind]) : undefined);

/** The required fields of a new thing. */
const least: Record<EstateKind, RowFields> = {
  group: { name: 'New' },
  location: { name: 'New', timezone: 'UTC' },
  zone: { name: 'New' },
  screen: { name: 'New', width_px: 1, height_px: 2 },
  installation: { device_id: device(2) },
  camera: { name: 'New', device_id: device(2) },
};

interface Given {
  readonly fields?: RowFields;
  readonly grants?: Grants;
  readonly parent?: object | undefined;
  readonly existing?: object | undefined;
  readonly ref?: string;
  readonly zone?: string;
}

function decided(kind: EstateKind, given: Given = {}) {
  const { fields = {}, grants = null, ref = 'X', zone } = given;
  const parent = ('parent' in given ? given.parent : parentOf(kind)) as Columns | undefined;
  const existing = ('existing' in given ? given.existing : rowOf(kind)) as Columns | undefined;
  const staged = { row: 2, kind, external_id: ref, parent: kind === 'group' ? null : 'P', unit: 2, fields, zone };
  return decide(staged, { grants, now, parent, existing, screens: new Map([['S', { id: 'scr_1' } as Columns]]) });
}
const created = (kind: EstateKind, given: Given = {}) =>
  decided(kind, { existing: undefined, fields: least[kind], ...given });
const refused = (reason: string) => ({ result: 'refused', reason });

describe('created', () => {
  test.each<[EstateKind, object]>([
    ['group', { name: 'New', description: null }],
    [
      'location',
      {
        ...{ group_id: 'G', name: 'New', timezone: 'UTC', address: null, latitude: null, longitude: null },
        ...{ venue_type: null, venue_taxonomy: null, opening_hours: null, status: 'active' },
      },
    ],
    ['zone', { group_id: 'G', location_id: 'L', name: 'New', kind: 'other' }],
    [
      'screen',
      {
        ...{ group_id: 'G', location_id: 'L', zone_id: 'Z', name: 'New', tags: [], width_px: 1, height_px: 2 },
        ...{ orientation: 'portrait', accepted_formats: ['image/jpeg', 'image/png', 'video/mp4'], audio: false },
      },
    ],
    [
      'installation',
      {
        ...{ group_id: 'G', location_id: 'L', name: null, device_id: device(2), live: true },
        ...{ installed_at: now, removed_at: null, outputs: [] },
      },
    ],
    ['camera', { group_id: 'G', location_id: 'L', zone_id: 'Z', name: 'New', device_id: device(2) }],
  ])('a %s with the required fields alone has the defaults of the API', (kind, columns) => {
    expect(created(kind)).toEqual({ result: 'created', columns });
  });

  test('a new location has the zone of its point, unless the file gives one', () => {
    const fields = { name: 'New', latitude: 1, longitude: 2 };
    const zone = 'Asia/Tokyo';
    expect(created('location', { fields, zone })).toMatchObject({ columns: { timezone: zone } });
    const both = created('location', { fields: { ...fields, timezone: 'UTC' }, zone });
    expect(both).toMatchObject({ columns: { timezone: 'UTC' } });
    expect(decided('location', { fields: { name: 'Name' }, zone })).toEqual({ result: 'unchanged' });
  });

  test.each(estateKinds.flatMap((kind) => Object.keys(least[kind]).map((name) => [kind, name] as const)))(
    'a new %s without %s is refused',
    (kind, name) => {
      const { [name]: _, ...fields } = least[kind];
      expect(created(kind, { fields })).toEqual(refused(`${name}: is required for a new ${kind}.`));
    },
  );

  test.each(estateKinds)('an id that no %s has is refused', (kind) => {
    expect(created(kind, { ref: ours('scr') })).toEqual(refused(`external_id: there is no ${kind} ${ours('scr')}.`));
  });

  test.each(estateKinds.filter((kind) => kind !== 'group'))(
    'a %s in a parent that does not exist is refused',
    (kind) => {
      const reason = `parent: there is no ${parents[kind as 'zone']} P.`;
      expect(created(kind, { parent: undefined })).toEqual(refused(reason));
      expect(decided(kind, { parent: undefined })).toEqual(refused(reason));
    },
  );

  test('an installation is wired only to screens of its location', () => {
    const outputs = [
      { output: 'B', screen: 'S' },
      { output: 'A', screen: 'T' },
    ];
    expect(created('installation', { fields: { ...least.installation, outputs } })).toEqual(
      refused('outputs: there is no screen T in the location.'),
    );
    const decision = created('installation', { fields: { ...least.installation, outputs: outputs.slice(0, 1) } });
    expect(decision).toMatchObject({ columns: { outputs: [{ output: 'B', screen_id: 'scr_1' }] } });
  });
});

describe('unchanged', () => {
  test.each<[EstateKind, RowFields]>([
    ['group', { name: 'Name', description: null }],
    ['location', { name: 'Name', latitude: 1, venue_type: 'retail', opening_hours: { mon: [] }, status: 'active' }],
    ['zone', { name: 'Name', zone_kind: 'window' }],
    ['screen', { tags: ['a'], width_px: 2, height_px: 1, accepted_formats: ['image/png'], audio: false }],
    [
      'installation',
      { name: null, device_id: device(1), status: 'live', outputs: [{ output: 'HDMI-1', screen: 'S' }] },
    ],
    ['camera', { name: 'Name', device_id: device(1) }],
  ])('a %s, whether the file repeats all of its fields or none', (kind, fields) => {
    expect(decided(kind, { fields })).toEqual({ result: 'unchanged' });
    expect(decided(kind)).toEqual({ result: 'unchanged' });
  });

  test('an empty text equals null, because a CSV cannot distinguish them', () => {
    const existing = { ...existingOf.group, description: '' };
    expect(decided('group', { existing, fields: { description: null } })).toEqual({ result: 'unchanged' });
  });

  test('zero and minus zero are equal', () => {
    const existing = { ...existingOf.location, latitude: 0, longitude: 0 };
    expect(decided('location', { existing, fields: { latitude: -0, longitude: -0 } })).toEqual({ result: 'unchanged' });
  });

  test('by a creator who sees the thing but may not change it', () => {
    for (const kind of estateKinds) expect(decided(kind, { grants: { G: 'm' } })).toEqual({ result: 'unchanged' });
  });
});

describe('updated', () => {
  test.each<[EstateKind, RowFields, object?]>([
    ['group', { description: 'New' }],
    ['location', { opening_hours: { mon: [{ opens: '09:00', closes: '10:00' }] } }],
    ['location', { venue_type: null }, { venue_type: null, venue_taxonomy: null }],
    ['zone', { zone_kind: 'aisle' }, { kind: 'aisle' }],
    ['screen', { tags: ['a', 'b'] }],
    ['screen', { height_px: 2 }, { height_px: 2, orientation: 'square' }],
    ['installation', { outputs: [] }],
    ['installation', { status: 'removed' }, { live: false, installed_at: before, removed_at: now }],
    ['camera', { device_id: device(3) }],
  ])('a %s with one field that differs: %j', (kind, fields, columns = fields) => {
    expect(decided(kind, { fields })).toMatchObject({ result: 'updated', columns });
  });

  test('a venue type keeps its taxonomy; a new one has the current taxonomy', () => {
    const fields = { name: 'New', venue_type: 'retail' };
    expect(decided('location', { fields })).not.toHaveProperty('columns.venue_taxonomy');
    const other = decided('location', { fields: { venue_type: 'transit' } });
    expect(other).toMatchObject({ columns: { venue_taxonomy: 'openooh-1.1' } });
  });

  test('an installation that becomes live again is installed anew', () => {
    const existing = { ...existingOf.installation, live: false, removed_at: before };
    const columns = { live: true, installed_at: now, removed_at: null };
    expect(decided('installation', { existing, fields: { status: 'live' } })).toMatchObject({ columns });
  });

  test('a location moves to another group; a screen and a camera to another zone, also of another location', () => {
    const group = { id: 'H' };
    expect(decided('location', { parent: group })).toEqual({ result: 'updated', columns: { group_id: 'H' } });
    const zone = { id: 'Y', location_id: 'M', group_id: 'H' };
    const columns = { zone_id: 'Y', location_id: 'M', group_id: 'H' };
    for (const kind of ['screen', 'camera'] as const)
      expect(decided(kind, { parent: zone })).toMatchObject({ result: 'updated', columns });
  });

  test.each(['zone', 'installation'] as const)('a %s cannot move to another location', (kind) => {
    const parent = { ...existingOf.location, id: 'M' };
    expect(decided(kind, { parent })).toEqual(refused(`parent: the ${kind} is in another location, where it stays.`));
  });

  test('an installation keeps its device', () => {
    expect(decided('installation', { fields: { device_id: device(9) } })).toEqual(
      refused('device_id: an installation keeps its device.'),
    );
  });
});

describe('rights', () => {
  const noRight = refused('Only an owner, an admin or an admin of the group sets up what is in it.');
  const placed = estateKinds.filter((kind) => kind !== 'group');
  const name = { name: 'Other' };

  test.each(placed)('a %s is set up by an admin of its group, but not by a member', (kind) => {
    expect(created(kind, { grants: { G: 'a' } })).toMatchObject({ result: 'created' });
    expect(decided(kind, { grants: { G: 'a' }, fields: name })).toMatchObject({ result: 'updated' });
    expect(created(kind, { grants: { G: 'm', H: 'a' } })).toEqual(noRight);
    expect(decided(kind, { grants: { G: 'm', H: 'a' }, fields: name })).toEqual(noRight);
  });

  test.each(estateKinds)('the external id of a %s in a hidden group is refused as taken', (kind) => {
    expect(decided(kind, { grants: { H: 'a' }, parent: { id: 'H', group_id: 'H' } })).toEqual(
      refused(`external_id: is used by another ${kind}.`),
    );
  });

  test('groups are set up by owners and account-wide admins alone', () => {
    const only = refused('Only an owner or an admin sets up groups.');
    expect(created('group', { grants: { G: 'a' } })).toEqual(only);
    expect(decided('group', { grants: { G: 'a' }, fields: name })).toEqual(only);
  });

  test.each<[EstateKind, object]>([
    ['location', { id: 'H' }],
    ['screen', { id: 'Y', location_id: 'M', group_id: 'H' }],
    ['camera', { id: 'Y', location_id: 'M', group_id: 'H' }],
  ])('a move of a %s between groups needs rights in both', (kind, parent) => {
    expect(decided(kind, { parent, grants: { G: 'a', H: 'a' } })).toMatchObject({ result: 'updated' });
    expect(decided(kind, { parent, grants: { G: 'm', H: 'a' } })).toEqual(noRight);
    expect(decided(kind, { parent, grants: { G: 'a', H: 'm' } })).toEqual(noRight);
  });
});
