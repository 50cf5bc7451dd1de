import type { EstateMedia } from '@attribution/contracts';
import { readCsv } from './read-csv.ts';
import { readNdjson } from './read-ndjson.ts';
import { type ReadRecord, slicesOf } from './records.ts';

export type ImportMedia = EstateMedia;

/**
 * Reads the records of a file in order, and yields those of about 64 KiB at a time. In CSV, `row` is the number that a
 * spreadsheet shows, with the header as row 1, and a record has a text for each column of the header. In NDJSON, `row` is
 * the line, and a record is its object. Values are not checked. A malformed record whose end is certain is yielded as an
 * error. If nothing behind a row can be read with certainty, throws a `validation-error` that names the row, after all
 * records before it have been yielded.
 */
export function readRecords(
  content: AsyncIterable<Uint8Array>,
  media: ImportMedia,
  columns: readonly string[],
): AsyncGenerator<readonly ReadRecord[]> {
  const slices = slicesOf(content);
  return media === 'text/csv' ? readCsv(slices, columns) : readNdjson(slices);
}
