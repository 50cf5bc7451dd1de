import { exportEstate } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { implement, openSpool, type Spool } from '@attribution/service';
import { stringify } from 'csv-stringify/sync';
import { type EstateRow, findPage, type Kind, type Scope, scopeOf } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { exportKinds, type FileRow, lineOf } from './file-row.ts';

const atOnce = 2_000;

/** Written whole, from one snapshot of the database: a slow client holds no connection of it. */
export const exportEstateEndpoint = (database: OrganizationDatabase) =>
  implement(exportEstate, async ({ query, caller }) => {
    const { format, group_ids } = query;
    const spool = await openSpool();
    try {
      if (format === 'csv') await spool.write(Buffer.from(stringify([lineOf.header])));
      await database.snapshot((tx) => writeEstate(tx, spool, format, scopeOf(caller), group_ids));
    } catch (error) {
      await spool.close();
      throw error;
    }
    const media = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    return { media, filename: `estate.${format}`, spool } as const;
  });

async function writeEstate(
  tx: Sql,
  spool: Spool,
  format: 'csv' | 'ndjson',
  scope: Scope,
  groupIds: readonly string[] | undefined,
): Promise<void> {
  for (const { kind, toFile } of exportKinds) {
    for (let after: string | undefined, full = true; full; ) {
      const page = { limit: atOnce, after };
      const rows: EstateRow[] = await findPage(tx, kind as unknown as Kind, scope, { group_ids: groupIds }, page);
      const lines = rows.map((row) => toFile(row as never));
      if (lines.length > 0) await spool.write(Buffer.from(textOf(lines, format)));
      after = rows.at(-1)?.id;
      full = rows.length === atOnce;
    }
  }
}

const textOf = (rows: readonly FileRow[], format: 'csv' | 'ndjson') =>
  format === 'csv' ? stringify(rows.map(lineOf.cells)) : rows.map((row) => `${JSON.stringify(row)}\n`).join('');
