import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { NoSuchObject, type ObjectStore } from './port.ts';

export interface S3Options {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint?: string | undefined;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** How long the store may send and take nothing, in milliseconds. Default: 30 s. */
  readonly waitMs?: number;
}

/** How long a request waits for the store, in milliseconds: to connect, and without any data. */
const connectionTimeout = 5_000;
const silenceMs = 30_000;
/** One for each file that is being sent or received, so that slow clients keep nobody from the store. */
const agent = { maxSockets: 1_000 };

/** Objects of a bucket. A put that does not bring all of its bytes leaves nothing there. */
export function openS3Store({ bucket, region, endpoint, credentials, waitMs = silenceMs }: S3Options): ObjectStore {
  const settings: S3ClientConfig = {
    region,
    // Not `requestTimeout`: it counts the whole of an upload, and only warns.
    requestHandler: { connectionTimeout, socketTimeout: waitMs, httpAgent: agent, httpsAgent: agent },
    // Sent as a trailer of the stream. By it a store knows that all bytes came: without it, not every compatible store
    // refuses what a broken connection has cut.
    requestChecksumCalculation: 'WHEN_SUPPORTED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Bytes go over a connection of their own: they cannot be sent again if the store has closed a kept one meanwhile.
    expectContinueHeader: true,
    logger: silent,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
  };
  const client = new S3Client(settings);
  /** For what the client throws while it does something to an object. */
  const fault = (what: string, key: string) => (error: unknown) => {
    throw error instanceof NoSuchKey ? new NoSuchObject(key) : failureOf(what, key, error);
  };
  return {
    async put(key, source, bytes) {
      const failing = new AbortController();
      const failed = Promise.withResolvers<never>();
      const body = Readable.from(orSilence(ofLength(source, bytes), failed.reject), { objectMode: false });
      const put = new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentLength: bytes });
      try {
        const sent = client.send(put, { abortSignal: failing.signal }).catch(fault('write', key));
        await Promise.race([sent, failed.promise]);
      } catch (error) {
        failing.abort();
        throw error;
      } finally {
        body.destroy();
      }
    },
    async get(key, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      const get = new GetObjectCommand({ Bucket: bucket, Key: key, ...(Range !== undefined && { Range }) });
      const { Body } = await client.send(get).catch(fault('read', key));
      if (!(Body instanceof Readable)) throw new Error(`The store answered no bytes of ${key}`);
      return Body;
    },
    async sizeOf(key) {
      try {
        return (await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }))).ContentLength;
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw failureOf('look for', key, error);
      }
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })).catch(fault('delete', key));
    },
    close: () => client.destroy(),
  };
}

/** Otherwise the client writes warnings of its own beside our log. What it could say is in the errors. */
const ignore = () => {};
const silent = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** The client's own message is at times no more than `UnknownError`. */
function failureOf(what: string, key: string, cause: unknown): Error {
  const { name, message, $metadata } = cause as Partial<S3ServiceException>;
  const status = $metadata?.httpStatusCode === undefined ? '' : `, status ${$metadata.httpStatusCode}`;
  return new Error(`The media store could not ${what} ${key}: ${name}: ${message}${status}`, { cause });
}

/** Says that the source has failed, and then nothing. An error of a body would be nobody's: the client ends the process by it. */
async function* orSilence(source: AsyncIterable<Uint8Array>, failed: (reason: unknown) => void) {
  try {
    yield* source;
  } catch (error) {
    failed(error);
    await new Promise(ignore);
  }
}

/** S3 refuses a stream with a chunk of less than 8 KiB that is not the last one; requests bring chunks of any size. */
const chunkBytes = 64 * 1024;

/**
 * The same bytes in chunks that S3 accepts. Fails before the last one if the length is another, so that the store never has
 * all the bytes it was promised.
 */
async function* ofLength(source: AsyncIterable<Uint8Array>, bytes: number): AsyncIterable<Uint8Array> {
  let read = 0;
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    if (size >= chunkBytes) {
      yield joined(held);
      [held, size] = [[], 0];
    }
    held.push(chunk);
    size += chunk.length;
    read += chunk.length;
    if (read > bytes) break;
  }
  if (read !== bytes) throw new Error(`The object has ${read} bytes instead of ${bytes}`);
  if (size > 0) yield joined(held);
}

/** What is one chunk already is not copied. */
const joined = (chunks: readonly Uint8Array[]): Uint8Array =>
  chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
