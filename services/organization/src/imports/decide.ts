import { isDeepStrictEqual } from 'node:util';
import { type EstateKind, looksLikeId, orientationOf } from '@attribution/contracts';
import { type EstateRow, groupOf } from '../estate/index.ts';
import { inOrder, standingOf } from '../installations/index.ts';
import { taxonomyOf } from '../locations/index.ts';
import { type Grants, seesWith, setsUpWith } from './importer.ts';
import type { StagedRow } from './lots.ts';
import { defaults, parentKinds, type RowFields } from './row.ts';

/** What becomes of a row, given what is there: pure. */

/** A row of any kind, by its columns. */
export type Columns = EstateRow & Readonly<Record<string, unknown>>;

export interface Around {
  readonly grants: Grants;
  readonly now: Date;
  /** What it is in; undefined: there is none, or none that may be seen. */
  readonly parent: Columns | undefined;
  /** What has its external id, or its id. */
  readonly existing: Columns | undefined;
  /** Screens of the same location, by what the file calls them. */
  readonly screens: ReadonlyMap<string, Columns>;
}

export type Decision =
  | { readonly result: 'created' | 'updated'; readonly columns: RowFields }
  | { readonly result: 'unchanged' }
  | { readonly result: 'refused'; readonly reason: string };

const refuse = (reason: string): Decision => ({ result: 'refused', reason });

/** Fields that a new thing must have. */
const required: Partial<Record<EstateKind, readonly string[]>> = {
  group: ['name'],
  location: ['name', 'timezone'],
  zone: ['name'],
  screen: ['name', 'width_px', 'height_px'],
  installation: ['device_id'],
  camera: ['name', 'device_id'],
};

/** What the fields of a new thing are that the file does not give. */
const blank: Partial<Record<EstateKind, RowFields>> = {
  group: { description: null },
  location: { address: null, latitude: null, longitude: null, venue_type: null, opening_hours: null },
  installation: { name: null },
};

const noRight = 'Only an owner, an admin or an admin of the group sets up what is in it.';
/** What stays where it is. */
const rooted: readonly EstateKind[] = ['zone', 'installation'];

export function decide({ kind, external_id: ref, parent: above, fields }: StagedRow, around: Around): Decision {
  const { grants, existing, parent } = around;
  const parentKind = parentKinds[kind];
  if (parentKind && !parent) return refuse(`parent: there is no ${parentKind} ${above}.`);
  const hidden = existing && !seesWith(grants, groupOf(existing));
  // Of our own ids nobody learns whether they are anybody's.
  if (looksLikeId(ref) && (!existing || hidden)) return refuse(`external_id: there is no ${kind} ${ref}.`);
  if (hidden) return refuse(`external_id: is the one of another ${kind}.`);
  if (existing && parent && rooted.includes(kind) && existing.location_id !== parent.id)
    return refuse(`parent: the ${kind} is in another location, where it stays.`);
  const given = existing ? fields : { ...blank[kind], ...defaults[kind], ...fields };
  const missing = existing ? undefined : required[kind]?.find((name) => (given[name] ?? null) === null);
  if (missing !== undefined) return refuse(`${missing}: is required for a new ${kind}.`);
  const columns = columnsFor(kind, given, around);
  if (typeof columns === 'string') return refuse(columns);
  if (existing && Object.entries(columns).every(([name, value]) => same(existing[name], value)))
    return { result: 'unchanged' };
  const mayNot = refusedRight(kind, around);
  return mayNot ?? { result: existing ? 'updated' : 'created', columns };
}

function refusedRight(kind: EstateKind, { grants, parent, existing }: Around): Decision | undefined {
  if (kind === 'group') return grants === null ? undefined : refuse('Only an owner or an admin sets up groups.');
  const groups = [parent, existing].filter((row) => row !== undefined).map(groupOf);
  return groups.every((id) => setsUpWith(grants, id)) ? undefined : refuse(noRight);
}

/** Whether a column stays as it is. A file cannot tell a text of no characters from none. */
const same = (before: unknown, after: unknown) =>
  before === after || isDeepStrictEqual(before, after) || (before === '' && after === null);

/** The columns that a row's fields and its place come to; a text: why they cannot be. */
function columnsFor(kind: EstateKind, fields: RowFields, around: Around): RowFields | string {
  const place = placeIn(kind, around.parent);
  switch (kind) {
    case 'location':
      return { ...fields, ...place, ...venueOf(fields, around.existing) };
    case 'zone': {
      const { zone_kind, ...rest } = fields;
      return { ...rest, ...place, ...(zone_kind !== undefined && { kind: zone_kind }) };
    }
    case 'screen':
      return { ...fields, ...place, ...orientationIn({ ...around.existing, ...fields }) };
    case 'installation':
      return installationColumns({ ...fields, ...place }, around);
    default:
      return { ...fields, ...place };
  }
}

function placeIn(kind: EstateKind, parent: Columns | undefined): RowFields {
  if (!parent) return {};
  const group_id = groupOf(parent);
  if (kind === 'location') return { group_id };
  if (kind === 'zone' || kind === 'installation') return { group_id, location_id: parent.id };
  return { group_id, location_id: parent.location_id, zone_id: parent.id };
}

/** A venue type keeps the taxonomy that it was chosen from until it changes. */
function venueOf({ venue_type }: RowFields, existing: Columns | undefined): RowFields {
  if (venue_type === undefined || venue_type === existing?.venue_type) return {};
  return { venue_taxonomy: taxonomyOf(venue_type as string | null) };
}

const orientationIn = ({ width_px, height_px }: RowFields): RowFields => ({
  orientation: orientationOf(Number(width_px), Number(height_px)),
});

interface Wire {
  readonly output: string;
  readonly screen: string;
}

function installationColumns(fields: RowFields, { existing, screens, now }: Around): RowFields | string {
  const { status, outputs, ...rest } = fields;
  if (existing && rest.device_id !== undefined && rest.device_id !== existing.device_id)
    return 'device_id: an installation keeps its device.';
  const wires = outputs as readonly Wire[] | undefined;
  const missing = wires?.find(({ screen }) => !screens.has(screen));
  if (missing) return `outputs: there is no screen ${missing.screen} in the location.`;
  return {
    ...rest,
    ...(wires && { outputs: wiresOf(wires, screens) }),
    ...(status !== undefined && standingOf(status as 'live', existing as never, now)),
  };
}

const wiresOf = (wires: readonly Wire[], screens: Around['screens']) =>
  inOrder(wires.map(({ output, screen }) => ({ output, screen_id: screens.get(screen)?.id ?? '' })));
