import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse';
import { faults, maxBlankLines, maxRecordBytes, maxRecords, type ReadRecord, refuseFile } from './records.ts';
import { hasStrayQuote } from './stray-quotes.ts';

/** Columns that every file must have. */
const required = ['kind', 'external_id'];

/** Cells that are split off a record. What follows is one cell: otherwise a line of commas would make millions. */
const maxCells = 1_000;

/** Reads RFC 4180, with LF as well as CRLF. Blank lines count as rows and are skipped. See `readRecords`. */
export async function* readCsv(
  slices: AsyncIterable<Buffer>,
  columns: readonly string[],
): AsyncGenerator<readonly ReadRecord[]> {
  let read: ReadRecord[] = [];
  /** The bytes since the end of the last record, and their offset in the file. */
  let unread: Buffer = Buffer.alloc(0);
  let unreadAt = 0;
  let end = 0;
  let row = 0;
  let records = 0;
  let blanks = 0;
  let header: readonly string[] | undefined;

  function take(cells: readonly string[], bytes: number): void {
    const raw = unread.subarray(end - unreadAt, bytes - unreadAt);
    end = bytes;
    row++;
    if (header && isBlank(raw)) {
      if (++blanks > maxBlankLines) throw refuseFile(row, faults.blank);
      return;
    }
    if (raw.length > maxRecordBytes) throw refuseFile(row, faults.size);
    // The parser writes U+FFFD for bytes that it cannot decode, but the file may contain that character itself.
    if (cells.some((cell) => cell.includes('\uFFFD')) && !isUtf8(raw)) throw refuseFile(row, faults.encoding);
    const fault = faultOf(cells, raw);
    if (!header) {
      if (fault) throw refuseFile(row, fault);
      header = headerOf(cells, columns);
      return;
    }
    if (++records > maxRecords) throw refuseFile(row, faults.count);
    const error = fault ?? countFault(cells.length, header.length);
    if (error) read.push({ row, error });
    else read.push({ row, record: Object.fromEntries(header.map((name, i) => [name, cells[i]])) });
  }

  const parser = parse({
    record_delimiter: ['\r\n', '\n'],
    // These two faults are found here, because the parser does not say where a record that it rejects ends.
    relax_quotes: true,
    relax_column_count: true,
    ignore_last_delimiters: maxCells,
    on_record(cells: string[], { bytes }) {
      take(cells, bytes);
      return null; // Nothing reads from the parser, so its buffer must stay empty.
    },
  });
  parser.on('error', () => {}); // `write` and `end` receive the error below.
  const errorOf = (write: (callback: (error?: Error | null) => void) => unknown) =>
    new Promise<unknown>((resolve) => write((error) => resolve(error ?? undefined)));
  function* yieldRead(error: unknown) {
    if (read.length > 0) yield read;
    read = [];
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED')
      throw refuseFile(row + 1, 'opens a quote that is never closed.');
    if (error) throw error as Error;
    // The parser's own limit counts neither delimiters nor quotes.
    if (unreadAt + unread.length - end > maxRecordBytes)
      throw refuseFile(row + 1, `${faults.size.slice(0, -1)}: a quote may be left open.`);
  }

  try {
    for await (const slice of slices) {
      unread = Buffer.concat([unread.subarray(end - unreadAt), slice]);
      unreadAt = end;
      yield* yieldRead(await errorOf((callback) => parser.write(slice, callback)));
    }
    yield* yieldRead(await errorOf((callback) => parser.once('error', callback).end(callback)));
    if (!header) throw refuseFile(1, 'must be a header with the names of the columns.');
  } finally {
    parser.destroy();
  }
}

const isBlank = (raw: Buffer) => raw.equals(lf) || raw.equals(crlf);
const [lf, crlf] = [Buffer.from('\n'), Buffer.from('\r\n')];

function faultOf(cells: readonly string[], raw: Buffer): string | undefined {
  if (cells.some((cell) => cell.includes('\0'))) return 'contains a NUL character.';
  // The parser keeps stray quotes in the cells, so only cells with quotes need the second look.
  if (cells.some((cell) => cell.includes('"')) && hasStrayQuote(raw))
    return 'has a stray quote: a cell with quotes must be quoted, and its quotes doubled.';
  return undefined;
}

const countFault = (cells: number, names: number) =>
  cells === names ? undefined : `has ${cells} cells${cells < maxCells ? '' : ' or more'}, and the header has ${names}.`;

function headerOf(cells: readonly string[], columns: readonly string[]): readonly string[] {
  for (const [i, name] of cells.entries()) {
    const shown = JSON.stringify(name.slice(0, 60));
    if (!columns.includes(name)) throw refuseFile(1, `${shown} is not a column; there are ${columns.join(', ')}.`);
    if (cells.indexOf(name) !== i) throw refuseFile(1, `the column ${shown} is named more than once.`);
  }
  const missing = required.find((name) => !cells.includes(name));
  if (missing) throw refuseFile(1, `the column ${missing} is missing.`);
  return cells;
}
