import type { Change } from '../estate/index.ts';
import { zoneKind } from './zone.ts';

/** The columns for the place of something in a zone. Throws like `Change.lockParent`. */
export async function inZone(change: Change, zoneId: string) {
  const { id, group_id, location_id } = await change.lockParent(zoneKind, zoneId, 'body.zone_id');
  return { zone_id: id, group_id, location_id };
}
