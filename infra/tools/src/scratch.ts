import { accessSync, constants, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '@attribution/runtime';

/** A file system in memory that most Linux systems have. */
const memory = '/dev/shm';
/** A run of everything takes 1.7 GB at most, and its processes up to 8 GB. The rest is reserve. */
const room = { bytes: 4 * 2 ** 30, memory: 12 * 2 ** 30 };

const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_');
/** `<process>@<host>`: containers that share the file system count their processes each for itself. */
const nameOf = /^attribution-tests-(\d+)@([A-Za-z0-9._-]+)$/;

/**
 * Makes a folder in memory for the temporary files of this process and its children, which is removed when it exits. Most of
 * them are databases that a test copies, fills and drops, which costs a disk much more. Returns undefined where there is no such
 * file system, or too little room, or where programs may not be started from it.
 */
export function openScratch(parent = memory, needed = room): string | undefined {
  try {
    removeLeftovers(parent);
    const { bavail, bsize } = statfsSync(parent);
    if (bavail * bsize < needed.bytes || process.availableMemory() < needed.memory) return undefined;
    const directory = join(parent, `attribution-tests-${process.pid}@${host}`);
    mkdirSync(directory, { mode: 0o711 }); // Postgres may run as another user.
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    const probe = join(directory, 'probe');
    writeFileSync(probe, '', { mode: 0o700 });
    accessSync(probe, constants.X_OK); // Fails where the file system is mounted `noexec`.
    return directory;
  } catch {
    return undefined;
  }
}

/** Removes the folders of processes that were killed, as far as they are this user's. */
function removeLeftovers(parent: string): void {
  for (const entry of readdirSync(parent)) {
    const [, pid, at] = nameOf.exec(entry) ?? [];
    if (at !== host || isRunning(Number(pid))) continue;
    try {
      rmSync(join(parent, entry), { recursive: true, force: true });
    } catch {}
  }
}
