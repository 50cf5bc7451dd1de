import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse';
import { faults, maxBlankLines, maxRecordBytes, maxRecords, type ReadRecord, refuseFile } from './records.ts';
import { hasStrayQuote } from './stray-quotes.ts';

/** What every record is known by. */
const required = ['kind', 'external_id'];

/** Cells of a record that are told apart; any more are one, or a line of commas would be millions. */
const maxCells = 1_000;

/** RFC 4180, with LF for CRLF too; blank lines are counted and passed over. As `readRecords` has it. */
export async function* readCsv(
  pieces: AsyncIterable<Buffer>,
  columns: readonly string[],
): AsyncGenerator<readonly ReadRecord[]> {
  let batch: ReadRecord[] = [];
  /** What has come since the last record's end, and where that was. */
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
    // The parser puts the replacement character for what it cannot decode; it may as well stand in the file.
    if (cells.some((cell) => cell.includes('\uFFFD')) && !isUtf8(raw)) throw refuseFile(row, faults.encoding);
    const fault = faultOf(cells, raw);
    if (!header) {
      if (fault) throw refuseFile(row, fault);
      header = headerOf(cells, columns);
      return;
    }
    if (++records > maxRecords) throw refuseFile(row, faults.count);
    const error = fault ?? countFault(cells.length, header.length);
    if (error) batch.push({ row, error });
    else batch.push({ row, record: Object.fromEntries(header.map((name, i) => [name, cells[i]])) });
  }

  const parser = parse({
    record_delimiter: ['\r\n', '\n'],
    // It would not say where a record ends that it refuses: these two are judged here.
    relax_quotes: true,
    relax_column_count: true,
    ignore_last_delimiters: maxCells,
    on_record(cells: string[], { bytes }) {
      take(cells, bytes);
      return null; // What is pushed to nobody fills no buffer.
    },
  });
  parser.on('error', () => {}); // The one that writes is told.
  const done = (write: (callback: (error?: Error | null) => void) => unknown) =>
    new Promise<unknown>((resolve) => write((error) => resolve(error ?? undefined)));
  function* out(error: unknown) {
    if (batch.length > 0) yield batch;
    batch = [];
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED')
      throw refuseFile(row + 1, 'opens a quote that is closed nowhere.');
    if (error) throw error as Error;
    // Its own limit counts neither delimiters nor quotes.
    if (unreadAt + unread.length - end > maxRecordBytes)
      throw refuseFile(row + 1, `${faults.size.slice(0, -1)}: a quote may be left open.`);
  }

  try {
    for await (const piece of pieces) {
      unread = Buffer.concat([unread.subarray(end - unreadAt), piece]);
      unreadAt = end;
      yield* out(await done((callback) => parser.write(piece, callback)));
    }
    yield* out(await done((callback) => parser.once('error', callback).end(callback)));
    if (!header) throw refuseFile(1, 'must be a header with the names of the columns.');
  } finally {
    parser.destroy();
  }
}

const isBlank = (raw: Buffer) => raw.equals(lf) || raw.equals(crlf);
const [lf, crlf] = [Buffer.from('\n'), Buffer.from('\r\n')];

function faultOf(cells: readonly string[], raw: Buffer): string | undefined {
  if (cells.some((cell) => cell.includes('\0'))) return 'contains a NUL character.';
  // A stray quote is kept by the parser: where none is, none was.
  if (cells.some((cell) => cell.includes('"')) && hasStrayQuote(raw))
    return 'has a quote inside a cell that is not written as two in a quoted cell.';
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
