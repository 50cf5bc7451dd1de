import { estateFileLimits, Problem } from '@attribution/contracts';

/** A record of a file, or why there is none; `row` is where a spreadsheet or an editor shows it, from 1. */
export type ReadRecord =
  | { readonly row: number; readonly record: Readonly<Record<string, unknown>> }
  | { readonly row: number; readonly error: string };

/** Of a file, its header and blank lines apart. */
export const maxRecords = estateFileLimits.rows;
/** Blank lines are passed over, but each is looked at. */
export const maxBlankLines = 100_000;
/** Of one record, as it stands in the file. */
export const maxRecordBytes = 4 * 1024 * 1024;

/** Ends the reading of a file for good. */
export const refuseFile = (row: number, fault: string) => new Problem('validation-error', `row ${row}: ${fault}`);

export const faults = {
  encoding: 'is not valid UTF-8.',
  size: `is larger than ${maxRecordBytes} bytes.`,
  blank: `is one of more than ${maxBlankLines} blank lines.`,
  count: `is more than the ${maxRecords} records that a file may have.`,
};

/** At most this many bytes are looked at between two yields. */
const atOnce = 64 * 1024;
const byteOrderMark = Buffer.from('\uFEFF');

/** The content in pieces of bounded size, without a byte order mark at its start. */
export async function* piecesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of content) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (start) {
      start = Buffer.concat([start, bytes]);
      if (start.length < byteOrderMark.length) continue;
      bytes = withoutMark(start);
      start = undefined;
    }
    for (let at = 0; at < bytes.length; at += atOnce) yield bytes.subarray(at, at + atOnce);
  }
  if (start && start.length > 0) yield start;
}

function withoutMark(start: Buffer): Buffer<ArrayBuffer> {
  const { length } = byteOrderMark;
  const marked = start.subarray(0, length).equals(byteOrderMark);
  return (marked ? start.subarray(length) : start) as Buffer<ArrayBuffer>;
}
