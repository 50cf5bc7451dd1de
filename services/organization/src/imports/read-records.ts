import type { EstateMedia } from '@attribution/contracts';
import { readCsv } from './read-csv.ts';
import { readNdjson } from './read-ndjson.ts';
import { piecesOf, type ReadRecord } from './records.ts';

export type ImportMedia = EstateMedia;

/**
 * The records of a file in order, as they are read, in batches of whatever 64 KiB hold. Of CSV, `row` is the number that
 * a spreadsheet shows, the header's being 1, and a record has a text for each column that the header names; of NDJSON,
 * `row` is the line, and a record is its object. Says nothing of values. A record that is malformed, and ends where
 * anybody can see, comes as an error. Throws `validation-error`, naming the row, where nothing behind it can be read
 * with certainty: after all records before it.
 */
export function readRecords(
  content: AsyncIterable<Uint8Array>,
  media: ImportMedia,
  columns: readonly string[],
): AsyncGenerator<readonly ReadRecord[]> {
  const pieces = piecesOf(content);
  return media === 'text/csv' ? readCsv(pieces, columns) : readNdjson(pieces);
}
