import { anyOf, type Sql } from '@attribution/database';
import { db } from '../store.ts';

/**
 * The rows of the objects in the store. A row is written before its object, and deleted after it, so that every object can
 * be found and deleted, wherever a process ends. An object is doomed from its beginning, and until something refers to it.
 */

/** How long an object may take to be written and referred to: longer than any upload or job. */
const claimedWithinMs = 48 * 60 * 60_000;

export interface ObjectRow {
  readonly key: string;
  readonly account_id: string;
}

/** The object is about to be written. One that is there already lives on for as long. */
export async function announceObject(tx: Sql, { key, account_id }: ObjectRow, now: Date): Promise<void> {
  const doomed_at = new Date(now.getTime() + claimedWithinMs);
  await db(tx)
    .insertInto('stored_objects')
    .values({ key, account_id, created_at: now, doomed_at })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({ doomed_at }).where('stored_objects.doomed_at', 'is not', null),
    )
    .execute();
}

/** Something refers to the objects now. Throws if one of them was deleted meanwhile. */
export async function claimObjects(tx: Sql, keys: readonly string[]): Promise<void> {
  const claimed = db(tx).updateTable('stored_objects').set({ doomed_at: null }).where('key', '=', anyOf(keys));
  const { length } = await claimed.returning('key').execute();
  if (length !== keys.length) throw new Error('An object was deleted before it was referred to');
}

/** Nothing refers to the objects any more. */
export async function doomObjects(tx: Sql, keys: readonly string[], now: Date): Promise<void> {
  if (keys.length === 0) return;
  await db(tx).updateTable('stored_objects').set({ doomed_at: now }).where('key', '=', anyOf(keys)).execute();
}

/** Locks an object's row. A content that several assets share is not deleted while one of them is added or removed. */
export async function lockObject(tx: Sql, key: string): Promise<void> {
  await db(tx).selectFrom('stored_objects').select('key').where('key', '=', key).forUpdate().execute();
}

/** Locks some objects that are to be deleted, and are not being deleted by another replica. */
export async function lockDoomed(tx: Sql, now: Date, limit: number): Promise<string[]> {
  const doomed = db(tx).selectFrom('stored_objects').where('doomed_at', '<=', now);
  const found = await doomed.select('key').orderBy('doomed_at').limit(limit).forUpdate().skipLocked().execute();
  return found.map(({ key }) => key);
}

export async function forgetObject(tx: Sql, key: string): Promise<void> {
  await db(tx).deleteFrom('stored_objects').where('key', '=', key).execute();
}
