import { estateColumns, importEstate, Problem } from '@attribution/contracts';
import { afterCommit, type Sql } from '@attribution/database';
import type { Upload } from '@attribution/http';
import { newId } from '@attribution/ids';
import type { Clock } from '@attribution/runtime';
import { implementWrite, type WriteHandler } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { grantsOf } from './grants.ts';
import { countUnfinished, insertChunk, insertImport, lockImportsOf } from './import.store.ts';
import { viewImport } from './import.view.ts';
import { type ImportMedia, readRecords } from './read-records.ts';

interface Dependencies {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
  readonly wake: () => void;
}

/** Stores the file for the job. Only its header and first rows are checked here. */
export const importEstateEndpoint = ({ database, clock, wake }: Dependencies) => {
  const handle: WriteHandler<typeof importEstate, Sql> = async ({ query, upload, caller, request, transaction }) => {
    await requireRows(upload);
    return transaction(async (tx) => {
      await lockImportsOf(tx, caller.accountId);
      await requireFewUnfinished(tx, caller.accountId);
      const row = await insertImport(tx, {
        id: newId('job'),
        account_id: caller.accountId,
        created_by: caller.id,
        grants: grantsOf(caller),
        dry_run: query.dry_run,
        media: upload.media,
        traceparent: request.traceparent,
        created_at: clock.now(),
      });
      let chunk = 0;
      const buffer = Buffer.allocUnsafeSlow(Math.min(upload.bytes, chunkBytes));
      for await (const bytes of upload.read(buffer)) await insertChunk(tx, row.id, chunk++, bytes);
      afterCommit(tx, wake);
      return viewImport(row);
    });
  };
  // A caller without the right to import, or whose account has enough of them, is refused before the file is received.
  return implementWrite(
    importEstate,
    database.sqlTransaction,
    handle,
    (caller) => void grantsOf(caller),
    (caller) => requireFewUnfinished(database.sql, caller.accountId),
  );
};

/** Imports of an account that may wait or run: each of them keeps its file. */
const maxUnfinished = 5;

async function requireFewUnfinished(db: Sql, accountId: string): Promise<void> {
  if ((await countUnfinished(db, accountId)) < maxUnfinished) return;
  throw new Problem('conflict', `${maxUnfinished} imports of this account are not done yet. Wait for one of them.`);
}

/** Reads the file's first rows. Throws `validation-error` if it has none, or if its header is invalid. */
async function requireRows(upload: Upload<ImportMedia>): Promise<void> {
  for await (const records of readRecords(upload.read(), upload.media, estateColumns)) if (records.length > 0) return;
  throw new Problem('validation-error', 'body: has no rows.');
}

/**
 * A row of such a chunk in base64 has less than 512 KiB: pg reads a row into a buffer that it doubles. It is parsed before the
 * second collection of new objects, after which its buffers would be old ones (ADR 48).
 */
const chunkBytes = 300_000;
