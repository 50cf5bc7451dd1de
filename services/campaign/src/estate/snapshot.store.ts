import type { Sql } from '@attribution/database';
import { db } from '../store.ts';
import { estateSnapshotName } from './follow-estate.ts';

/** Whether the whole estate is known: false until its snapshot has been read, at the first start and in a rebuild. */
export async function isEstateRead(tx: Sql): Promise<boolean> {
  const snapshot = db(tx).selectFrom('projection_snapshots').where('name', '=', estateSnapshotName);
  return (await snapshot.where('completed_at', 'is not', null).select('name').executeTakeFirst()) !== undefined;
}
