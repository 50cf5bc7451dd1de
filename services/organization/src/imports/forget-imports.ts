import type { Sql } from '@attribution/database';
import type { Clock } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { deleteImport, findEnded, stopImport } from './import.store.ts';
import { deleteSomeLots, deleteUnits } from './lot.store.ts';
import { deleteRefused } from './refused-row.store.ts';

interface Parts {
  readonly database: OrganizationDatabase;
  readonly clock: Clock;
}

const atOnce = 5_000;
/** Days that an import and its report are kept. */
const keptDays = 30;

/** Forgets imports whose time is over. */
export function purgeImports({ database, clock }: Parts) {
  return {
    name: 'purge-estate-imports',
    every: 60 * 60 * 1000,
    async run() {
      const before = new Date(clock.now().getTime() - keptDays * 24 * 60 * 60 * 1000);
      for (const id of await findEnded(database.sql, before, 1_000)) await forgetImport({ database, clock }, id);
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
