import { estateFileLimits, Problem } from '@attribution/contracts';

/** A record of a file, or why it cannot be read. `row` is the number that a spreadsheet or an editor shows, from 1. */
export type ReadRecord =
  | { readonly row: number; readonly record: Readonly<Record<string, unknown>> }
  | { readonly row: number; readonly error: string };

/** Records of a file, without its header and blank lines. */
export const maxRecords = estateFileLimits.rows;
/** Blank lines are skipped, but skipping them takes time too. */
export const maxBlankLines = 100_000;
/** Bytes of one record in the file. */
export const maxRecordBytes = 4 * 1024 * 1024;

/** The problem to throw when nothing behind a row can be read with certainty. */
export const refuseFile = (row: number, fault: string) => new Problem('validation-error', `row ${row}: ${fault}`);

export const faults = {
  encoding: 'is not valid UTF-8.',
  size: `is larger than ${maxRecordBytes} bytes.`,
  blank: `is one of more than ${maxBlankLines} blank lines.`,
  count: `is more than the ${maxRecords} records that a file may have.`,
};

/** Bytes that are parsed between two yields. */
const sliceBytes = 64 * 1024;
const byteOrderMark = Buffer.from('\uFEFF');

/** Cuts the content into slices of at most `sliceBytes`, without a byte order mark at its start. */
export async function* slicesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of content) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (start) {
      start = Buffer.concat([start, bytes]);
      if (start.length < byteOrderMark.length) continue;
      bytes = withoutMark(start);
      start = undefined;
    }
    for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
  }
  if (start && start.length > 0) yield start;
}

function withoutMark(start: Buffer): Buffer<ArrayBuffer> {
  const { length } = byteOrderMark;
  const marked = start.subarray(0, length).equals(byteOrderMark);
  return (marked ? start.subarray(length) : start) as Buffer<ArrayBuffer>;
}
