import type { Location } from '@attribution/contracts';
import type { z } from 'zod';
import type { findLocations } from './location.store.ts';

type LocationRow = Omit<Awaited<ReturnType<typeof findLocations>>[number], 'account_id'>;
type View = z.output<typeof Location>;

export function viewLocation(row: LocationRow): View {
  return {
    id: row.id,
    group_id: row.group_id,
    name: row.name,
    timezone: row.timezone,
    address: row.address,
    latitude: row.latitude,
    longitude: row.longitude,
    venue_type: row.venue_type as View['venue_type'],
    opening_hours: row.opening_hours as View['opening_hours'],
    status: row.status,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
