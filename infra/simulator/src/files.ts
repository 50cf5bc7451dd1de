import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ManifestFile } from './manifest.ts';

/** The files of all devices of this process, by their SHA-256. */
export interface FileStore {
  has(sha256: string): boolean;
  /** Fetches a file that is missing. Rejects if it is not what the manifest says. Devices that want the same file share it. */
  fetch(file: ManifestFile): Promise<void>;
}

const timeoutMs = 60_000;

function checked({ sha256, size_bytes }: ManifestFile): Transform {
  const hash = createHash('sha256');
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      done(bytes > size_bytes ? new Error(`${sha256}: is larger than the manifest says`) : null, chunk);
    },
    flush(done) {
      done(hash.digest('hex') === sha256 ? null : new Error(`${sha256}: the file has another hash`));
    },
  });
}

export async function openFileStore(directory: string): Promise<FileStore> {
  await mkdir(directory, { recursive: true });
  const present = new Set<string>();
  const fetching = new Map<string, Promise<void>>();

  async function download(file: ManifestFile): Promise<void> {
    const path = join(directory, file.sha256);
    const isThere = await stat(path).then(
      ({ size }) => size === file.size_bytes,
      () => false,
    );
    if (isThere) return;
    const partial = `${path}.${process.pid}`;
    const signal = AbortSignal.timeout(timeoutMs);
    const request = file.url.startsWith('https:') ? requestSecure : requestPlain;
    const req = request(file.url, { signal });
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        req.on('response', resolve).on('error', reject).end();
      });
      if (response.statusCode !== 200) {
        response.resume();
        throw new Error(`${file.sha256}: its server answered ${response.statusCode}`);
      }
      await pipeline(response, checked(file), createWriteStream(partial));
      await rename(partial, path);
    } finally {
      await rm(partial, { force: true });
    }
  }

  return {
    has: (sha256) => present.has(sha256),
    async fetch(file) {
      const { sha256 } = file;
      if (present.has(sha256)) return;
      const known = fetching.get(sha256) ?? download(file).then(() => void present.add(sha256));
      fetching.set(sha256, known);
      await known.finally(() => fetching.delete(sha256));
    },
  };
}
