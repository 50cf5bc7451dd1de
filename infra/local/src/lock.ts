import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRunning } from '@attribution/runtime';

/** Another process runs on this folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** When a process started, in the kernel's clock ticks: it tells a reused pid from the original. Empty if unknown. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')')).split(' ')[20] ?? '';
  } catch {
    return '';
  }
}

/** The process that a lock file names, if it is still running. */
function ownerOf(file: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined; // Released in the meantime.
    throw error;
  }
  const [, digits = '0', start = ''] = /^(\d+) (\d*)$/.exec(text) ?? [];
  const pid = Number(digits);
  return pid > 0 && isRunning(pid) && startOf(pid) === start ? pid : undefined;
}

/** Locks the folder for this process and returns a function that unlocks it. Throws `FolderInUse`. */
export function lockFolder(directory: string): () => void {
  const mine = join(directory, `running.pid.${process.pid}`);
  writeFileSync(mine, `${process.pid} ${startOf(process.pid)}`);
  try {
    return take(join(directory, 'running.pid'), mine);
  } finally {
    rmSync(mine, { force: true });
  }
}

/**
 * Takes the lock by linking `file` to `mine`, which is atomic. A stale lock is removed first, under a second lock:
 * otherwise, of several processes that find it, one could remove the lock that another has just taken.
 */
function take(file: string, mine: string): () => void {
  while (!tryLink(mine, file)) {
    const owner = ownerOf(file);
    if (owner !== undefined) throw new FolderInUse(`process ${owner} runs on ${dirname(file)}`);
    const release = take(`${file}.claim`, mine);
    if (ownerOf(file) === undefined) rmSync(file, { force: true });
    release();
  }
  return () => rmSync(file, { force: true });
}

function tryLink(existing: string, name: string): boolean {
  try {
    linkSync(existing, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
