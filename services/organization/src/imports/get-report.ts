import { getEstateImportReport, Problem, reportColumns } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { stringify } from 'csv-stringify/sync';
import type { OrganizationDatabase } from '../store.ts';
import { visibleCreator } from './grants.ts';
import { findImport } from './import.store.ts';
import { findRefused } from './refused-row.store.ts';

const rowsPerPage = 2_000;

/** For a running import: the rows refused so far. For a failed one: none, because its failure is not the fault of rows. */
export const getEstateImportReportEndpoint = ({ sql }: OrganizationDatabase) =>
  implement(getEstateImportReport, async ({ params, caller, openSpool }) => {
    const found = await findImport(sql, caller.accountId, visibleCreator(caller), params.id);
    if (!found) throw Problem.notFound();
    const spool = await openSpool();
    try {
      await spool.write(Buffer.from(stringify([reportColumns])));
      for (let after = 0, more = found.status !== 'failed'; more; ) {
        const rows = await findRefused(sql, found.id, after, rowsPerPage);
        await spool.write(Buffer.from(stringify(rows, { columns: [...reportColumns], escape_formulas: true })));
        after = rows.at(-1)?.row ?? after;
        more = rows.length === rowsPerPage;
      }
    } catch (error) {
      await spool.close();
      throw error;
    }
    return { media: 'text/csv', filename: `${found.id}.csv`, spool };
  });
