import { estateColumns, importEstate, Problem } from '@attribution/contracts';
import { afterCommit, type Sql } from '@attribution/database';
import type { Upload } from '@attribution/http';
import { newId } from '@attribution/ids';
import type { Clock } from '@attribution/runtime';
import { implementKeyed, type KeyedHandler } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { countWaiting, insertImport, insertPart } from './import.store.ts';
import { viewImport } from './import.view.ts';
import { grantsOf } from './importer.ts';
import { type ImportMedia, readRecords } from './read-records.ts';

interface Dependencies {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
  readonly wake: () => void;
}

/** Keeps the file; what is in it is the job's. A file that cannot be one at all is refused at once. */
export const importEstateEndpoint = ({ database, clock, wake }: Dependencies) => {
  const handle: KeyedHandler<typeof importEstate, Sql> = async ({ query, upload, caller, request, transaction }) => {
    await requireRows(upload);
    return transaction(async (tx) => {
      await requireTurn(tx, caller.accountId);
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
      let part = 0;
      for await (const bytes of inParts(upload.read())) await insertPart(tx, row.id, part++, bytes);
      afterCommit(tx, wake);
      return viewImport(row);
    });
  };
  // Who has no right to import sends no file.
  return implementKeyed(importEstate, database.sqlTransaction, handle, (caller) => void grantsOf(caller));
};

/** Imports of an account that may wait, one that is at work among them: each keeps its file. */
const maxWaiting = 5;

async function requireTurn(tx: Sql, accountId: string): Promise<void> {
  if ((await countWaiting(tx, accountId)) < maxWaiting) return;
  throw new Problem('conflict', `${maxWaiting} imports of this account are not done yet. Wait for one of them.`);
}

/** Looks at the file's first rows. Throws `validation-error` where it has none, or a header that is unknown. */
async function requireRows(upload: Upload<ImportMedia>): Promise<void> {
  for await (const records of readRecords(upload.read(), upload.media, estateColumns)) if (records.length > 0) return;
  throw new Problem('validation-error', 'body: has no rows.');
}

const partBytes = 1024 * 1024;

async function* inParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    gathered.push(chunk);
    bytes += chunk.length;
    if (bytes < partBytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}
