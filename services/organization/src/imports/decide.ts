import { isDeepStrictEqual } from 'node:util';
import { type EstateKind, looksLikeId, orientationOf } from '@attribution/contracts';
import { type EstateRow, groupOf } from '../estate/index.ts';
import { sortOutputs, statusFields } from '../installations/index.ts';
import { taxonomyOf } from '../locations/index.ts';
import type { StagedRow } from './batches.ts';
import { canSee, canSetUp, type Grants } from './grants.ts';
import { defaults, parentKinds, type RowFields } from './row.ts';

/** Decides what a row does, given what exists. Pure. */

/** A row of any kind, as its columns. */
export type Columns = EstateRow & Readonly<Record<string, unknown>>;

export interface DecisionContext {
  readonly grants: Grants;
  readonly now: Date;
  /** undefined if it does not exist, or the creator of the import does not see it. */
  readonly parent: Columns | undefined;
  /** The thing with the row's external id, or id. */
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

/** Fields of a new thing that the file leaves out. */
const emptyFields: Partial<Record<EstateKind, RowFields>> = {
  group: { description: null },
  location: { address: null, latitude: null, longitude: null, venue_type: null, opening_hours: null },
  installation: { name: null },
};

const noRight = 'Only an owner, an admin or an admin of the group sets up what is in it.';
/** Kinds that cannot move to another parent. */
const fixedKinds: readonly EstateKind[] = ['zone', 'installation'];

export function decide(
  { kind, external_id: ref, parent: parentRef, fields, zone }: StagedRow,
  context: DecisionContext,
): Decision {
  const { grants, existing, parent } = context;
  const parentKind = parentKinds[kind];
  if (parentKind && !parent) return refuse(`parent: there is no ${parentKind} ${parentRef}.`);
  const hidden = existing && !canSee(grants, groupOf(existing));
  // The answer must not reveal whether an id of ours belongs to another account.
  if (looksLikeId(ref) && (!existing || hidden)) return refuse(`external_id: there is no ${kind} ${ref}.`);
  if (hidden) return refuse(`external_id: is used by another ${kind}.`);
  if (existing && parent && fixedKinds.includes(kind) && existing.location_id !== parent.id)
    return refuse(`parent: the ${kind} is in another location, where it stays.`);
  const byPoint = zone === undefined ? {} : { timezone: zone };
  const given = existing ? fields : { ...emptyFields[kind], ...defaults[kind], ...byPoint, ...fields };
  const missing = existing ? undefined : required[kind]?.find((name) => (given[name] ?? null) === null);
  if (missing !== undefined) return refuse(`${missing}: is required for a new ${kind}.`);
  const columns = columnsFor(kind, given, context);
  if (typeof columns === 'string') return refuse(columns);
  if (existing && Object.entries(columns).every(([name, value]) => same(existing[name], value)))
    return { result: 'unchanged' };
  const refusal = refusedRight(kind, context);
  return refusal ?? { result: existing ? 'updated' : 'created', columns };
}

function refusedRight(kind: EstateKind, { grants, parent, existing }: DecisionContext): Decision | undefined {
  if (kind === 'group') return grants === null ? undefined : refuse('Only an owner or an admin sets up groups.');
  const groups = [parent, existing].filter((row) => row !== undefined).map(groupOf);
  return groups.every((id) => canSetUp(grants, id)) ? undefined : refuse(noRight);
}

/** Whether a column keeps its value. A file cannot distinguish an empty text from null. */
const same = (before: unknown, after: unknown) =>
  before === after || isDeepStrictEqual(before, after) || (before === '' && after === null);

/** The columns that follow from a row's fields and parent, or as a text why the row is refused. */
function columnsFor(kind: EstateKind, fields: RowFields, context: DecisionContext): RowFields | string {
  const place = placeIn(kind, context.parent);
  switch (kind) {
    case 'location':
      return { ...fields, ...place, ...venueOf(fields, context.existing) };
    case 'zone': {
      const { zone_kind, ...rest } = fields;
      return { ...rest, ...place, ...(zone_kind !== undefined && { kind: zone_kind }) };
    }
    case 'screen':
      return { ...fields, ...place, ...orientationIn({ ...context.existing, ...fields }) };
    case 'installation':
      return installationColumns({ ...fields, ...place }, context);
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

/** A venue type keeps the taxonomy from which it was chosen until it changes. */
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

function installationColumns(fields: RowFields, { existing, screens, now }: DecisionContext): RowFields | string {
  const { status, outputs, ...rest } = fields;
  if (existing && rest.device_id !== undefined && rest.device_id !== existing.device_id)
    return 'device_id: an installation keeps its device.';
  const wires = outputs as readonly Wire[] | undefined;
  const missing = wires?.find(({ screen }) => !screens.has(screen));
  if (missing) return `outputs: there is no screen ${missing.screen} in the location.`;
  return {
    ...rest,
    ...(wires && { outputs: wiresOf(wires, screens) }),
    ...(status !== undefined && statusFields(status as 'live', existing as never, now)),
  };
}

const wiresOf = (wires: readonly Wire[], screens: DecisionContext['screens']) =>
  sortOutputs(wires.map(({ output, screen }) => ({ output, screen_id: screens.get(screen)?.id ?? '' })));
