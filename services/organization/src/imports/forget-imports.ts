import type { Sql } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import type { OrganizationDatabase } from '../store.ts';
import { countEnded, deleteImport, findEnded, stopImport } from './import.store.ts';
import { deleteSomeLots, deleteUnits } from './lot.store.ts';
import { deleteRefused } from './refused-row.store.ts';

interface Parts {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
}

const atOnce = 5_000;
const endedAtOnce = 1_000;
/** Days that an import and its report are kept. */
const keptDays = 30;

/** Imports whose time is over. */
export function endedImports(parts: Parts) {
  const { database, clock } = parts;
  const horizon = () => new Date(clock.now().getTime() - keptDays * 24 * 60 * 60 * 1000);
  return {
    count: async () => ({ estate_imports: await countEnded(database.sql, horizon()) }),
    async purge() {
      const before = horizon();
      for (let gone = 0; ; ) {
        const some = await findEnded(database.sql, before, endedAtOnce);
        for (const id of some) await forgetImport(parts, id);
        gone += some.length;
        if (some.length < endedAtOnce) return { estate_imports: gone };
      }
    },
  };
}

/** Whoever works on it finds it ended, and writes no more rows. */
export async function forgetImport({ database, clock }: Parts, id: string) {
  const { sql } = database;
  await database.sqlTransaction((tx) => stopImport(tx, id, clock.now()));
  await forgetRows(sql, id);
  await deleteImport(sql, id);
}

/** Forgets the rows of an import that is over. */
export async function forgetRows(sql: Sql, id: string): Promise<void> {
  while ((await deleteSomeLots(sql, id, atOnce)) > 0);
  while ((await deleteRefused(sql, id, atOnce)) > 0);
  await deleteUnits(sql, id);
}
