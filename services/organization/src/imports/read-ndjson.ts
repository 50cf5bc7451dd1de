import { findFault } from '@attribution/http';
import { faults, maxBlankLines, maxRecordBytes, maxRecords, type ReadRecord, refuseFile } from './records.ts';

const newline = 0x0a;
const blank = /^[ \t\r]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads one JSON object a line. Blank lines are skipped. See `readRecords`. */
export async function* readNdjson(slices: AsyncIterable<Buffer>): AsyncGenerator<readonly ReadRecord[]> {
  let row = 0;
  let records = 0;
  let blanks = 0;
  /** The bytes of a line whose end has not been read yet. */
  let line: Buffer[] = [];
  let lineBytes = 0;

  function readLine(): ReadRecord | undefined {
    const [first] = line;
    const bytes = first && line.length === 1 ? first : Buffer.concat(line);
    line = [];
    lineBytes = 0;
    row++;
    // Nothing is decoded of an empty line, because a slice may consist of them, and everybody waits until it is read.
    const text = bytes.length === 0 ? '' : textOf(bytes, row);
    if (text === '' || blank.test(text)) {
      if (++blanks > maxBlankLines) throw refuseFile(row, faults.blank);
      return undefined;
    }
    if (++records > maxRecords) throw refuseFile(row, faults.count);
    return { row, ...parse(text) };
  }
  function add(bytes: Buffer): void {
    line.push(bytes);
    lineBytes += bytes.length;
    if (lineBytes > maxRecordBytes) throw refuseFile(row + 1, faults.size);
  }

  for await (const slice of slices) {
    const read: ReadRecord[] = [];
    try {
      let at = 0;
      for (let end = slice.indexOf(newline); end !== -1; end = slice.indexOf(newline, at)) {
        add(slice.subarray(at, end));
        at = end + 1;
        const record = readLine();
        if (record) read.push(record);
      }
      add(slice.subarray(at));
    } catch (error) {
      if (read.length > 0) yield read;
      throw error;
    }
    if (read.length > 0) yield read;
  }
  const last = lineBytes > 0 && readLine();
  if (last) yield [last];
}

function textOf(line: Buffer, row: number): string {
  try {
    return utf8.decode(line);
  } catch {
    throw refuseFile(row, faults.encoding);
  }
}

function parse(text: string): { record: Record<string, unknown> } | { error: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { error: 'is not valid JSON.' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { error: 'is not a JSON object.' };
  const error = findFault(value, 'record');
  return error === undefined ? { record: value as Record<string, unknown> } : { error };
}
