import type { Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { AdProfile } from '../generated/kysely/types.ts';
import { db } from '../store.ts';
import type { ProfileFields } from './profile.ts';

export type ProfileRow = Selectable<AdProfile>;

export const findProfile = (tx: Sql, adId: string): Promise<ProfileRow | undefined> =>
  db(tx).selectFrom('ad_profiles').where('ad_id', '=', adId).selectAll().executeTakeFirst();

/** Makes the profile, or replaces all of it but its id and when it was made. */
export function putProfile(
  tx: Sql,
  id: string,
  adId: string,
  { audience, dayparts }: ProfileFields,
  now: Date,
): Promise<ProfileRow> {
  const json = { audience: JSON.stringify(audience) as never, dayparts: JSON.stringify(dayparts) as never };
  return db(tx)
    .insertInto('ad_profiles')
    .values({ id, ad_id: adId, ...json, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.column('ad_id').doUpdateSet({ ...json, updated_at: now }))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Whether there was one. */
export async function deleteProfile(tx: Sql, adId: string): Promise<boolean> {
  const { numDeletedRows } = await db(tx).deleteFrom('ad_profiles').where('ad_id', '=', adId).executeTakeFirst();
  return numDeletedRows > 0n;
}
