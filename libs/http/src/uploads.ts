import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, type UploadRules } from '@attribution/contracts';
import type { Claim } from './byte-budget.ts';
import { tooLarge, unreadable } from './read-body.ts';
import { openSpool, type Spool, transferTimeoutMs } from './spool.ts';

/** A file that was sent as a request's body. It exists until the handler is done. */
export interface Upload<M extends string = string> {
  readonly media: M;
  readonly bytes: number;
  /** SHA-256 in hex, by which a repeated upload is recognized. */
  readonly digest: string;
  /**
   * The file from its start, as `Spool.read` does, and no faster than files are received; it can be read repeatedly. Nothing has
   * checked that it is UTF-8.
   */
  read(into?: Buffer): AsyncIterable<Buffer>;
}

/** The media type of an upload. Throws `validation-error` if the headers say that the file cannot be accepted. */
export function admitUpload(rules: UploadRules, req: IncomingMessage): string {
  const media = mediaOf(req.headers['content-type'], rules.media);
  const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = req.headers;
  if (encoding.toLowerCase() !== 'identity') throw invalid('Content-Encoding: is not supported.');
  if (Number(length) > rules.max_bytes) throw tooLarge(rules.max_bytes);
  return media;
}

/**
 * Reads the body of a request into a spool, which the caller closes. Throws `validation-error`, and `unavailable` if there is
 * no room for the file, before it is read if its length is known. The rest of the body is then discarded.
 */
export async function receiveUpload(
  rules: UploadRules,
  media: string,
  req: IncomingMessage,
  claim: Claim,
): Promise<Upload & Pick<Spool, 'close'>> {
  claim.grow(Number(req.headers['content-length'] ?? 0));
  const spool = await openSpool(claim);
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
    read: (into) => readAtPace(spool, into),
    close: () => spool.close(),
  };
}

/** Beyond its beginning, a file is received and read at this pace at most, or a large one would keep the process busy. */
const pace = { freeBytes: 2 * 1024 * 1024, bytesPerMs: 16 * 1024 };
/** Shorter pauses are not worth a timer. */
const leastPauseMs = 5;

/** Waits until so many bytes are due. */
async function keepPace(began: number, bytes: number): Promise<void> {
  const aheadMs = (bytes - pace.freeBytes) / pace.bytesPerMs - (performance.now() - began);
  if (aheadMs >= leastPauseMs) await sleep(aheadMs);
}

async function* readAtPace(spool: Spool, into: Buffer | undefined): AsyncGenerator<Buffer> {
  const began = performance.now();
  let bytes = 0;
  for await (const chunk of spool.read(into)) {
    yield chunk;
    bytes += chunk.length;
    await keepPace(began, bytes);
  }
}

async function fill(spool: Spool, req: IncomingMessage, rules: UploadRules): Promise<void> {
  // Destroying the request would close its connection, and the refusal could not be sent.
  const began = performance.now();
  const deadline = began + transferTimeoutMs;
  const chunks = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    for await (const chunk of chunks) {
      if (spool.bytes + chunk.length > rules.max_bytes) throw tooLarge(rules.max_bytes);
      if (performance.now() > deadline) throw invalid('The request did not arrive in time.');
      await spool.write(chunk);
      await keepPace(began, spool.bytes);
    }
  } catch (error) {
    // The client has disconnected. That is no error of the service, so it must not be logged as one.
    throw req.destroyed && !req.complete ? unreadable() : error;
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
