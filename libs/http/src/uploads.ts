import type { IncomingMessage } from 'node:http';
import { Problem, type UploadRules } from '@attribution/contracts';
import { openSpool, type Spool } from './spool.ts';

/** A file that was sent as a request's body. It exists until the handler is done. */
export interface Upload<M extends string = string> {
  readonly media: M;
  readonly bytes: number;
  /** SHA-256 in hex, by which a repeated upload is recognized. */
  readonly digest: string;
  /** The file from its start; it can be read repeatedly. Nothing has checked that it is UTF-8. */
  read(): AsyncIterable<Buffer>;
}

/**
 * Reads the body of a request into a spool, which the caller closes. Throws `validation-error`, if possible from the headers
 * before the body is read; the rest of the body is then discarded.
 */
export async function receiveUpload(rules: UploadRules, req: IncomingMessage): Promise<Upload & Pick<Spool, 'close'>> {
  const media = mediaOf(req.headers['content-type'], rules.media);
  const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = req.headers;
  if (encoding.toLowerCase() !== 'identity') throw invalid('Content-Encoding: is not supported.');
  if (Number(length) > rules.max_bytes) throw tooLarge(rules);
  const spool = await openSpool();
  try {
    await fill(spool, req, rules);
    if (spool.bytes === 0) throw invalid('body: is required.');
  } catch (error) {
    await spool.close();
    req.resume(); // The rest is discarded, as the connection's next request follows it.
    throw error;
  }
  return {
    media,
    bytes: spool.bytes,
    digest: spool.digest,
    read: () => spool.read(),
    close: () => spool.close(),
  };
}

async function fill(spool: Spool, req: IncomingMessage, rules: UploadRules): Promise<void> {
  // Destroying the request would close its connection, and the refusal could not be sent.
  const chunks = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    for await (const chunk of chunks) {
      if (spool.bytes + chunk.length > rules.max_bytes) throw tooLarge(rules);
      await spool.write(chunk);
    }
  } catch (error) {
    // The client has disconnected. That is no error of the service, so it must not be logged as one.
    throw req.destroyed && !req.complete ? invalid('body: could not be read.') : error;
  }
}

/** CSV has a parameter `header` (RFC 4180 §3, RFC 7111 §5.1). The first line is always read as a header. */
function mediaOf(contentType: string | undefined, known: readonly string[]): string {
  const [first = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const media = known.find((one) => one === first);
  if (media === undefined) throw invalid(`Content-Type: must be one of ${known.join(', ')}.`);
  for (const parameter of parameters) {
    if (parameter === '' || /^charset=(utf-8|"utf-8")$/.test(parameter)) continue;
    if (parameter.startsWith('charset=')) throw invalid('Content-Type: the charset must be utf-8.');
    if (media !== 'text/csv' || parameter !== 'header=present')
      throw invalid(`Content-Type: ${parameter.slice(0, 60)} is not supported.`);
  }
  return media;
}

const invalid = (detail: string) => new Problem('validation-error', detail);
const tooLarge = ({ max_bytes }: UploadRules) => invalid(`body: is larger than ${max_bytes} bytes.`);
