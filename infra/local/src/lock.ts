import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Somebody else runs on this folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** When a process started, in the kernel's own count, so that a reused pid is told apart; empty where not known. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')')).split(' ')[20] ?? '';
  } catch {
    return '';
  }
}

/** The process that a lock names, while it lives. */
function ownerOf(file: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined; // Given back meanwhile.
    throw error;
  }
  const [, digits = '0', start = ''] = /^(\d+) (\d*)$/.exec(text) ?? [];
  const pid = Number(digits);
  return pid > 0 && isAlive(pid) && startOf(pid) === start ? pid : undefined;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Takes the folder for this process; returns what gives it back. Throws `FolderInUse`. */
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
 * Makes `file` another name of `mine`: at once and whole, or not at all. The lock of an owner who died is removed first,
 * under a lock again: of many who find it, none may remove the one that another has taken since.
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
