import { accessSync, constants, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file system in memory that most Linux systems have. */
const memory = '/dev/shm';
/** A run of everything takes 1.7 GB at most, and its processes up to 8 GB. The rest is reserve. */
const room = { bytes: 4 * 2 ** 30, memory: 12 * 2 ** 30 };
const name = 'attribution-tests-';

/**
 * Makes a folder in memory for the temporary files of this process and its children, which is removed when it exits. Most of
 * them are databases that a test copies, fills and drops, and a disk takes longer for that than the test. Returns undefined
 * where there is none, or too little room, or where programs may not be started from it.
 */
export function openScratch(parent = memory, needed = room): string | undefined {
  try {
    removeLeftovers(parent);
    const { bavail, bsize } = statfsSync(parent);
    if (bavail * bsize < needed.bytes || process.availableMemory() < needed.memory) return undefined;
    const directory = join(parent, `${name}${process.pid}`);
    mkdirSync(directory, { recursive: true, mode: 0o711 }); // Postgres may run as another user.
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    const probe = join(directory, 'probe');
    writeFileSync(probe, '', { mode: 0o700 });
    accessSync(probe, constants.X_OK); // Fails where the file system is mounted `noexec`.
    return directory;
  } catch {
    return undefined;
  }
}

/** Removes the folders of processes that were killed. */
function removeLeftovers(parent: string): void {
  for (const entry of readdirSync(parent)) {
    const pid = Number(entry.slice(name.length));
    if (entry.startsWith(name) && !isAlive(pid)) rmSync(join(parent, entry), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
