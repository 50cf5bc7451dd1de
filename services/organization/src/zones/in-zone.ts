import type { Change } from '../estate/index.ts';
import { zoneKind } from './zone.ts';

/** Where something is that is put into a zone. Throws as `Change.into`. */
export async function inZone(change: Change, zoneId: string) {
  const { id, group_id, location_id } = await change.into(zoneKind, zoneId, 'body.zone_id');
  return { zone_id: id, group_id, location_id };
}
