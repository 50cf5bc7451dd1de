import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '@attribution/runtime';

/** The folders that this process has open, whichever of its services works in them. */
const own = new Set<string>();

const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_');
/** `<process>@<host>`: of containers that share a folder, each has the process 1. */
const nameOf = /^media-job-(\d+)@([A-Za-z0-9._-]+)~[0-9a-f-]{36}$/;

/** No try of a job lasts as long, so a folder that is older belongs to nobody. */
const abandonedMs = 60 * 60_000;

export interface WorkFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A private folder for one try of a job, in the given folder, or in the system's for temporary files. */
export async function openWorkFolder(parent = tmpdir()): Promise<WorkFolder> {
  const path = join(parent, `media-job-${process.pid}@${host}~${randomUUID()}`);
  own.add(path);
  try {
    await mkdir(parent, { recursive: true });
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    own.delete(path);
    throw error;
  }
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true });
      own.delete(path);
    },
  };
}

/** Deletes the folders of tries whose process was killed. What cannot be deleted now is left for the next time. */
export async function removeOrphans(parent = tmpdir()): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const path = join(parent, name);
    if (await isOrphan(path, name)) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

async function isOrphan(path: string, name: string): Promise<boolean> {
  const [, pid, at] = nameOf.exec(name) ?? [];
  if (pid === undefined || own.has(path)) return false;
  if (at === host && (Number(pid) === process.pid || !isRunning(Number(pid)))) return true;
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > abandonedMs;
}
