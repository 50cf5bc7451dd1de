import type { ServerResponse } from 'node:http';
import type { DownloadRules } from '@attribution/contracts';
import type { Spool } from './spool.ts';

/** A file of text in UTF-8 that a handler answers: written whole, so that nothing else waits while a slow client reads. */
export interface Download<M extends string = string> {
  readonly media: M;
  /** Letters, digits, dots, dashes and underscores of ASCII. */
  readonly filename: string;
  /** Closed by whoever sends it. */
  readonly spool: Spool;
}

const filenameShape = /^[\w.-]{1,200}$/;

/** Sends a file as it is read, no faster than the client takes it, and closes its spool. */
export async function sendDownload(rules: DownloadRules, { media, filename, spool }: Download, res: ServerResponse) {
  try {
    if (!rules.media.includes(media)) throw new Error(`A download is ${media}, which its contract does not have`);
    if (!filenameShape.test(filename)) throw new Error(`A download cannot be named ${JSON.stringify(filename)}`);
    res.setHeader('content-type', `${media}; charset=utf-8`);
    res.setHeader('content-disposition', `attachment; filename="${filename}"`);
    res.setHeader('content-length', spool.bytes);
    if (res.req.method !== 'HEAD') {
      for await (const chunk of spool.read()) {
        if (!res.write(chunk)) await drained(res);
        if (res.closed) return;
      }
    }
    res.end();
  } catch (error) {
    if (!res.headersSent) res.removeHeader('content-disposition'); // A problem is no file.
    throw error;
  } finally {
    await spool.close();
  }
}

/** Resolves when the client has taken what waits for it, or has gone. */
function drained(res: ServerResponse): Promise<void> {
  if (res.closed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
  });
}
