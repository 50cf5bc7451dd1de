import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Claim } from './byte-budget.ts';

/** A private temporary file of any size, in constant memory. One caller at a time writes; any number of callers read. */
export interface Spool {
  /** Bytes written. */
  readonly bytes: number;
  /** SHA-256 of the content, in hex. */
  readonly digest: string;
  /** Appends; text as UTF-8. Rejects with the system's error, such as a full disk, and with what the claim throws. */
  write(chunk: Uint8Array | string): Promise<void>;
  /**
   * The content from its start, in chunks of up to 64 KiB, or as views of `into`, of which each is valid until the next one is
   * asked for: V8 collects the whole heap for every 64 MB of new buffers.
   */
  read(into?: Buffer): AsyncIterable<Buffer>;
  /** Deletes the file. It may be called again. Readers that have not finished fail. */
  close(): Promise<void>;
}

/** Bytes per read and, where enough were gathered, per write. */
const chunkSize = 64 * 1024;

/** How long a client may take to send or receive a file. Meanwhile the file takes room that others may need. */
export const transferTimeoutMs = 15 * 60_000;

/** A spool in the system's folder for temporary files. Its bytes are counted by `claim` until it is closed. */
export async function openSpool(claim?: Claim): Promise<Spool> {
  const path = join(tmpdir(), `spool-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path); // Without a name, the system deletes the file when its handle is closed, however the process ends.
  } catch (error) {
    await file.close();
    throw error;
  }
  return spoolOn(file, claim);
}

function spoolOn(file: FileHandle, claim: Claim | undefined): Spool {
  const hash = createHash('sha256');
  let bytes = 0;
  /** What is not in the file yet. */
  let gathered: Buffer | undefined;
  let gatheredBytes = 0;
  let flushed: Promise<void> = Promise.resolve();

  function flush(): Promise<void> {
    if (!gathered || gatheredBytes === 0) return flushed;
    const chunk = gathered.subarray(0, gatheredBytes);
    gatheredBytes = 0;
    return append(chunk);
  }

  /** Writes the last bytes of the content into the file. */
  function append(chunk: Uint8Array): Promise<void> {
    const position = bytes - chunk.length;
    return (flushed = flushed.then(() => writeAll(file, chunk, position)));
  }

  return {
    get bytes() {
      return bytes;
    },
    get digest() {
      return hash.copy().digest('hex');
    },
    async write(chunk) {
      const given = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      claim?.grow(bytes + given.length);
      hash.update(given);
      if (gatheredBytes + given.length > chunkSize) await flush();
      bytes += given.length;
      if (given.length >= chunkSize) return append(given);
      gathered ??= Buffer.allocUnsafeSlow(chunkSize);
      gathered.set(given, gatheredBytes);
      gatheredBytes += given.length;
    },
    async *read(into) {
      const written = flush();
      gathered = undefined; // Whoever writes meanwhile must not write into what is being flushed.
      await written;
      for (let position = 0; ; ) {
        const chunk = into ?? Buffer.allocUnsafeSlow(chunkSize);
        const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
        if (bytesRead === 0) return;
        position += bytesRead;
        yield chunk.subarray(0, bytesRead);
      }
    },
    async close() {
      claim?.release();
      await file.close();
    },
  };
}

async function writeAll(file: FileHandle, chunk: Uint8Array, at: number): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, written, chunk.length - written, at + written);
    written += bytesWritten;
  }
}
