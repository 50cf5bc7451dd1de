import { anyOf, type Sql } from '@attribution/database';
import { db } from '../store.ts';

/** The locations that a device is in, or once was. */
export async function findLocationsOf(
  tx: Sql,
  { id, accountId }: { readonly id: string; readonly accountId: string },
): Promise<Set<string>> {
  const own = db(tx).selectFrom('device_locations').where('account_id', '=', accountId).where('device_id', '=', id);
  return new Set((await own.select('location_id').execute()).map(({ location_id }) => location_id));
}

/** A location, a deleted one too. */
export const findLocation = (
  tx: Sql,
  accountId: string,
  id: string,
): Promise<{ readonly group_id: string; readonly gone: boolean } | undefined> =>
  db(tx)
    .selectFrom('known_locations')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .select(['group_id', 'gone'])
    .executeTakeFirst();

/** The location of each zone that is known, by its id; of deleted ones, too. */
export async function findZones(tx: Sql, accountId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const zones = db(tx).selectFrom('known_zones').where('account_id', '=', accountId).where('id', '=', anyOf(ids));
  const rows = await zones.select(['id', 'location_id']).execute();
  return new Map(rows.map(({ id, location_id }) => [id, location_id]));
}

export interface KnownScreen {
  readonly location_id: string;
  readonly zone_id: string;
}

/** Where each screen that is known is, by its id; where a deleted one was. */
export async function findScreens(
  tx: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, KnownScreen>> {
  if (ids.length === 0) return new Map();
  const screens = db(tx).selectFrom('known_screens').where('account_id', '=', accountId).where('id', '=', anyOf(ids));
  const rows = await screens.select(['id', 'location_id', 'zone_id']).execute();
  return new Map(rows.map(({ id, ...place }) => [id, place]));
}
