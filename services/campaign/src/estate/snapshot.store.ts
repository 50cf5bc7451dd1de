import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';
import { estateSnapshotName } from './follow-estate.ts';

/** Whether the whole estate is known, to select: false until its snapshot has been read, at the first start and in a rebuild. */
export const estateIsRead = sql<boolean>`
  EXISTS (SELECT FROM projection_snapshots WHERE name = ${estateSnapshotName} AND completed_at IS NOT NULL)`;

export async function isEstateRead(tx: Sql): Promise<boolean> {
  const { read } = await db(tx).selectNoFrom(estateIsRead.as('read')).executeTakeFirstOrThrow();
  return read;
}
