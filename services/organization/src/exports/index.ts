import { exportEstate } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Spool } from '@attribution/http';
import { implement } from '@attribution/service';
import { stringify } from 'csv-stringify/sync';
import { type EstateRow, findPage, type Kind, type Scope, scopeOf } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { csvLines, exportKinds, type FileRow } from './file-row.ts';

const rowsPerPage = 2_000;

/** The file is complete before it is sent, so that a slow client holds no database connection. */
export const exportEstateEndpoint = (database: OrganizationDatabase) =>
  implement(exportEstate, async ({ query, caller, openSpool }) => {
    const spool = await openSpool();
    await writeExport(database, spool, query.format, scopeOf(caller), query.group_ids);
    const media = query.format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    return { media, filename: `estate.${query.format}`, spool } as const;
  });

type Format = 'csv' | 'ndjson';

async function writeExport(
  database: OrganizationDatabase,
  spool: Spool,
  format: Format,
  scope: Scope,
  groupIds: readonly string[] | undefined,
): Promise<void> {
  try {
    if (format === 'csv') await spool.write(Buffer.from(stringify([csvLines.header])));
    await database.snapshot((tx) => writeEstate(tx, spool, format, scope, groupIds));
  } catch (error) {
    await spool.close();
    throw error;
  }
}

async function writeEstate(
  tx: Sql,
  spool: Spool,
  format: Format,
  scope: Scope,
  groupIds: readonly string[] | undefined,
): Promise<void> {
  for (const { kind, toFile } of exportKinds) {
    for (let after: string | undefined, more = true; more; ) {
      const page = { limit: rowsPerPage, after };
      const rows: EstateRow[] = await findPage(tx, kind as unknown as Kind, scope, { group_ids: groupIds }, page);
      const lines = rows.map((row) => toFile(row as never));
      if (lines.length > 0) await spool.write(Buffer.from(textOf(lines, format)));
      after = rows.at(-1)?.id;
      more = rows.length === rowsPerPage;
    }
  }
}

const textOf = (rows: readonly FileRow[], format: Format) =>
  format === 'csv' ? stringify(rows.map(csvLines.cells)) : rows.map((row) => `${JSON.stringify(row)}\n`).join('');
