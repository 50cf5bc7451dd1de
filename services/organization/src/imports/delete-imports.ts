import type { Sql } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import type { OrganizationDatabase } from '../store.ts';
import { deleteSomeBatches, deleteUnits } from './batch.store.ts';
import { countEnded, deleteImport, findEnded, stopImport } from './import.store.ts';
import { deleteRefused } from './refused-row.store.ts';

interface Dependencies {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
}

const rowsPerStatement = 5_000;
const importsPerPage = 1_000;
/** An import and its report are kept for this long after its end. */
const retentionMs = 30 * 24 * 60 * 60 * 1000;

/** Deletes imports that ended long ago. */
export function importPurge(deps: Dependencies) {
  const { database, clock } = deps;
  const horizon = () => new Date(clock.now().getTime() - retentionMs);
  return {
    count: async () => ({ estate_imports: await countEnded(database.sql, horizon()) }),
    async purge() {
      const before = horizon();
      for (let deleted = 0; ; ) {
        const ids = await findEnded(database.sql, before, importsPerPage);
        for (const id of ids) await discardImport(deps, id);
        deleted += ids.length;
        if (ids.length < importsPerPage) return { estate_imports: deleted };
      }
    },
  };
}

/** Ends an import, so that no worker writes rows for it any more, and deletes it with its rows. */
export async function discardImport({ database, clock }: Dependencies, id: string) {
  const { sql } = database;
  await database.sqlTransaction((tx) => stopImport(tx, id, clock.now()));
  await deleteRows(sql, id);
  await deleteImport(sql, id);
}

/** Deletes the rows of an import that has ended. */
export async function deleteRows(sql: Sql, id: string): Promise<void> {
  while ((await deleteSomeBatches(sql, id, rowsPerStatement)) > 0);
  while ((await deleteRefused(sql, id, rowsPerStatement)) > 0);
  await deleteUnits(sql, id);
}
