import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';
import { isEstateRead } from './snapshot.store.ts';

interface ChangedScreen {
  readonly account_id: string;
  readonly screen_id: string;
}

/**
 * Takes the oldest changes of screens (made, deleted, moved, tagged; their location moved to another group), up to `most`:
 * they are deleted with the commit of what the caller does about them. Each screen is returned once. None while the
 * estate's snapshot is being read: until then, a screen that is missing may exist all the same.
 */
export async function takeChangedScreens(tx: Sql, most: number): Promise<ChangedScreen[]> {
  if (!(await isEstateRead(tx))) return [];
  const { rows } = await sql<ChangedScreen>`
    WITH taken AS (
      DELETE FROM changed_screens WHERE sequence IN
        (SELECT sequence FROM changed_screens ORDER BY sequence LIMIT ${most} FOR UPDATE SKIP LOCKED)
      RETURNING account_id, screen_id)
    SELECT DISTINCT account_id, screen_id FROM taken ORDER BY account_id, screen_id`.execute(db(tx));
  return rows;
}
