import type { ServerResponse } from 'node:http';
import type { DownloadRules } from '@attribution/contracts';
import { type Spool, transferTimeoutMs } from './spool.ts';

/** A UTF-8 text file that a handler returns. It is written completely first, so that a slow client holds up nothing else. */
export interface Download<M extends string = string> {
  readonly media: M;
  /** ASCII letters, digits, dots, dashes and underscores. */
  readonly filename: string;
  /** Closed after it was sent. */
  readonly spool: Spool;
}

const filenameShape = /^[\w.-]{1,200}$/;

/** Streams a file no faster than the client receives it, and closes its spool. */
export async function sendDownload(rules: DownloadRules, { media, filename, spool }: Download, res: ServerResponse) {
  try {
    if (!rules.media.includes(media)) throw new Error(`A download is ${media}, which its contract does not have`);
    if (!filenameShape.test(filename)) throw new Error(`A download cannot be named ${JSON.stringify(filename)}`);
    res.setHeader('content-type', `${media}; charset=utf-8`);
    res.setHeader('content-disposition', `attachment; filename="${filename}"`);
    res.setHeader('content-length', spool.bytes);
    const deadline = performance.now() + transferTimeoutMs;
    if (res.req.method !== 'HEAD') {
      for await (const chunk of spool.read()) {
        if (!res.write(chunk)) await drained(res);
        if (performance.now() > deadline) res.destroy();
        if (res.destroyed || res.closed) return;
      }
    }
    res.end();
  } catch (error) {
    if (!res.headersSent) res.removeHeader('content-disposition'); // The response will be a problem instead of a file.
    throw error;
  } finally {
    await spool.close();
  }
}

/** Resolves when the response's buffer is empty again, or the client has disconnected. */
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
