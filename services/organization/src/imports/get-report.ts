import { getEstateImportReport, Problem, reportColumns } from '@attribution/contracts';
import { openSpool } from '@attribution/http';
import { implement } from '@attribution/service';
import { stringify } from 'csv-stringify/sync';
import type { OrganizationDatabase } from '../store.ts';
import { findImport } from './import.store.ts';
import { makerSeenBy } from './importer.ts';
import { findRefused } from './refused-row.store.ts';

const atOnce = 2_000;

/** Of an import that runs: rows that were refused until now. Of one that failed: none, as it is not its rows that were at fault. */
export const getEstateImportReportEndpoint = ({ sql }: OrganizationDatabase) =>
  implement(getEstateImportReport, async ({ params, caller }) => {
    const found = await findImport(sql, caller.accountId, makerSeenBy(caller), params.id);
    if (!found) throw Problem.notFound();
    const spool = await openSpool();
    try {
      await spool.write(Buffer.from(stringify([reportColumns])));
      for (let after = 0, full = found.status !== 'failed'; full; ) {
        const rows = await findRefused(sql, found.id, after, atOnce);
        await spool.write(Buffer.from(stringify(rows, { columns: [...reportColumns], escape_formulas: true })));
        after = rows.at(-1)?.row ?? after;
        full = rows.length === atOnce;
      }
    } catch (error) {
      await spool.close();
      throw error;
    }
    return { media: 'text/csv', filename: `${found.id}.csv`, spool };
  });
