import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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

function isAlive(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return startOf(pid) === start;
}

/** Takes the folder for this process; returns what gives it back. Throws `FolderInUse`. */
export function lockFolder(directory: string): () => void {
  const file = join(directory, 'running.pid');
  const mine = `${process.pid} ${startOf(process.pid)}`;
  for (const attempt of [1, 2]) {
    try {
      writeFileSync(file, mine, { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const [pid = '', start = ''] = readFileSync(file, 'utf8').split(' ');
    if (attempt === 2 || isAlive(Number(pid), start)) throw new FolderInUse(`process ${pid} runs on ${directory}`);
    rmSync(file, { force: true }); // Its owner died without giving it back.
  }
  throw new Error('Not reached');
}
