import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';

/** Bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file that is sent from where it is stored. */
export interface SentFile {
  readonly media: string;
  readonly bytes: number;
  /** Changes with the content. */
  readonly tag: string;
  read(range: ByteRange): Promise<Readable>;
}

/** Sends a file, or the one range that was asked for (RFC 9110 §14), no faster than the client receives it. */
export async function sendFile({ media, bytes, tag, read }: SentFile, req: Request, res: Response): Promise<void> {
  const range = rangeOf(req.headers.range, bytes);
  res.setHeader('accept-ranges', 'bytes');
  if (range === undefined) {
    res.statusCode = 416;
    res.setHeader('content-range', `bytes */${bytes}`);
    res.end();
    return;
  }
  const length = range.end - range.start + 1;
  if (length < bytes) {
    res.statusCode = 206;
    res.setHeader('content-range', `bytes ${range.start}-${range.end}/${bytes}`);
  }
  const content = req.method === 'HEAD' ? undefined : await read(range); // Before any header that a problem must not have.
  res.setHeader('cache-control', 'private, max-age=3600');
  res.setHeader('content-type', media);
  res.setHeader('content-length', length);
  res.setHeader('etag', `"${tag}"`);
  if (!content) {
    res.end();
    return;
  }
  try {
    await pipeline(content, res);
  } catch (error) {
    // What was sent is not the whole file, and the client sees it by the length. That it left is nobody's fault.
    const left = res.closed && !res.writableFinished;
    res.destroy();
    if (!left) throw error;
  }
}

/** The range to send; the whole file if none is asked for, or several are; undefined if none of it is in the file. */
function rangeOf(header: string | undefined, bytes: number): ByteRange | undefined {
  const whole = { start: 0, end: bytes - 1 };
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return whole;
  if (first === '') return last === '0' ? undefined : { start: Math.max(0, bytes - Number(last)), end: bytes - 1 };
  const range = { start: Number(first), end: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) };
  if (last !== '' && Number(last) < Number(first)) return whole; // Not a range, so it is ignored.
  return range.start < bytes ? range : undefined;
}
