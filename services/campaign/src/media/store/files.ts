import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { NoSuchObject, type ObjectStore } from './port.ts';

/** A part of a name: no name leads out of the folder. */
const plain = /^[a-z0-9_-]+$/;

/** Bytes that are gathered for one write, and in how many chunks at most; bytes after which the disk takes in what is written. */
const writeSize = 1024 * 1024;
const mostChunks = 512;
const syncSize = 16 * 1024 * 1024;

/** Objects as files of a folder. A put writes beside the file, and renames. */
export function openFileStore(folder: string): ObjectStore {
  let puts = 0;

  function pathOf(key: string): string {
    const parts = key.split('/');
    if (!parts.every((part) => plain.test(part))) throw new Error(`No name of an object: ${key}`);
    return join(folder, ...parts);
  }

  return {
    async put(key, source, bytes) {
      const path = pathOf(key);
      const fresh = `${path}.new.${process.pid}.${puts++}`;
      await mkdir(dirname(path), { recursive: true });
      const file = await open(fresh, 'wx', 0o600);
      try {
        const written = await writeAll(file, source);
        if (written !== bytes) throw new Error(`The object has ${written} bytes instead of ${bytes}`);
        await file.sync();
        await file.close();
        await rename(fresh, path);
      } catch (error) {
        await file.close().catch(() => {});
        await rm(fresh, { force: true });
        throw error;
      }
    },
    async get(key, range) {
      const path = pathOf(key);
      const file = await open(path).catch(missing(key));
      return createReadStream('', { fd: file, ...range });
    },
    async sizeOf(key) {
      const found = await stat(pathOf(key)).catch(absent);
      return found?.size;
    },
    async remove(key) {
      const path = pathOf(key);
      const names = (await readdir(dirname(path)).catch(absent)) ?? [];
      const left = names.filter((name) => name.startsWith(`${basename(path)}.new.`));
      for (const name of [basename(path), ...left]) await rm(join(dirname(path), name), { force: true });
    },
    close() {},
  };
}

/**
 * Writes what was gathered while more of it comes, and has the disk take it in meanwhile, so that a file is safe soon after its
 * last byte. It has two lots in memory at most.
 */
async function writeAll(file: FileHandle, source: AsyncIterable<Uint8Array>): Promise<number> {
  let [written, synced] = [0, 0];
  let gathered: Uint8Array[] = [];
  let size = 0;
  let writing = Promise.resolve();
  let syncing = Promise.resolve();
  const flush = async () => {
    const [lot, position] = [gathered, written];
    written += size;
    [gathered, size] = [[], 0];
    await writing;
    writing = writeLot(file, lot, position);
    writing.catch(() => {}); // It is awaited with the next lot.
    if (written - synced < syncSize) return;
    synced = written;
    await syncing;
    syncing = file.datasync();
    syncing.catch(() => {});
  };
  try {
    for await (const chunk of source) {
      gathered.push(chunk);
      size += chunk.length;
      if (size >= writeSize || gathered.length >= mostChunks) await flush();
    }
    if (size > 0) await flush();
  } finally {
    await Promise.all([writing, syncing]); // The file is not closed before.
  }
  return written;
}

async function writeLot(file: FileHandle, lot: readonly Uint8Array[], position: number): Promise<void> {
  const size = lot.reduce((sum, { length }) => sum + length, 0);
  const { bytesWritten } = await file.writev(lot, position);
  if (bytesWritten < size) await writeLot(file, [Buffer.concat(lot).subarray(bytesWritten)], position + bytesWritten);
}

const isAbsent = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

function absent(error: unknown): undefined {
  if (!isAbsent(error)) throw error;
}

const missing = (key: string) => (error: unknown) => {
  throw isAbsent(error) ? new NoSuchObject(key) : error;
};
