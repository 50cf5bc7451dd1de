import {
  type Location,
  locationCreated,
  locationDeleted,
  locationUpdated,
  Problem,
  venueTaxonomy,
} from '@attribution/contracts';
import type { z } from 'zod';
import type { Kind, PlacedRow } from '../estate/index.ts';

type View = z.output<typeof Location>;

export interface LocationRow extends PlacedRow {
  readonly name: string;
  readonly timezone: string;
  readonly address: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly venue_type: View['venue_type'];
  readonly venue_taxonomy: string | null;
  readonly opening_hours: View['opening_hours'];
  readonly status: View['status'];
}

export const locationKind: Kind<LocationRow, View> = {
  name: 'location',
  table: 'locations',
  columns: [
    'group_id',
    'name',
    'timezone',
    'address',
    'latitude',
    'longitude',
    'venue_type',
    'venue_taxonomy',
    'opening_hours',
    'status',
  ],
  events: { created: locationCreated, updated: locationUpdated, deleted: locationDeleted },
  view: (row) => ({
    id: row.id,
    group_id: row.group_id,
    name: row.name,
    external_id: row.external_id,
    timezone: row.timezone,
    address: row.address,
    latitude: row.latitude,
    longitude: row.longitude,
    venue_type: row.venue_type,
    venue_taxonomy: row.venue_taxonomy,
    opening_hours: row.opening_hours,
    status: row.status,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }),
};

/** The current taxonomy, from which a venue type is chosen. */
export const taxonomyOf = (venueType: string | null) => (venueType === null ? null : venueTaxonomy);

type Coordinates = Pick<LocationRow, 'latitude' | 'longitude'>;

/** Requires both coordinates, or neither. */
export function requirePoint({ latitude, longitude }: Coordinates): void {
  if ((latitude === null) === (longitude === null)) return;
  const [missing, other] = latitude === null ? ['latitude', 'longitude'] : ['longitude', 'latitude'];
  throw new Problem('validation-error', `body.${missing}: must be given with ${other}.`);
}
