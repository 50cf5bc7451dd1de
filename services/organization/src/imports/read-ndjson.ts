import { findFault } from '@attribution/http';
import { faults, maxBlankLines, maxRecordBytes, maxRecords, type ReadRecord, refuseFile } from './records.ts';

const newline = 0x0a;
const blank = /^[ \t\r]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** One JSON object a line; blank lines are passed over. As `readRecords` has it. */
export async function* readNdjson(pieces: AsyncIterable<Buffer>): AsyncGenerator<readonly ReadRecord[]> {
  let row = 0;
  let records = 0;
  let blanks = 0;
  /** What has come of a line that has no end yet. */
  let begun: Buffer[] = [];
  let begunBytes = 0;

  function readLine(): ReadRecord | undefined {
    const line = Buffer.concat(begun);
    begun = [];
    begunBytes = 0;
    row++;
    const text = textOf(line, row);
    if (blank.test(text)) {
      if (++blanks > maxBlankLines) throw refuseFile(row, faults.blank);
      return undefined;
    }
    if (++records > maxRecords) throw refuseFile(row, faults.count);
    return { row, ...parse(text) };
  }
  function add(bytes: Buffer): void {
    begun.push(bytes);
    begunBytes += bytes.length;
    if (begunBytes > maxRecordBytes) throw refuseFile(row + 1, faults.size);
  }

  for await (const piece of pieces) {
    const batch: ReadRecord[] = [];
    try {
      let at = 0;
      for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, at)) {
        add(piece.subarray(at, end));
        at = end + 1;
        const read = readLine();
        if (read) batch.push(read);
      }
      add(piece.subarray(at));
    } catch (error) {
      if (batch.length > 0) yield batch;
      throw error;
    }
    if (batch.length > 0) yield batch;
  }
  const last = begunBytes > 0 && readLine();
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
