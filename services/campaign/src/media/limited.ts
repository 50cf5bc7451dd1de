import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { BadContent } from './failure.ts';

/** What a child process may take. */
export interface Limits {
  /** Aborts when the time of the job is over, or the job ends for another reason. */
  readonly signal: AbortSignal;
  /** Resident memory, in bytes. It is measured where the system has /proc. */
  readonly memory: number;
}

/** What every process of a job may take: a frame of 100 million pixels, a few times. */
export const childMemory = 2 * 1024 * 1024 * 1024;

/** The reason of the signal when the time of a job is over. */
export const outOfTime = new BadContent('took_too_long', 'It took longer than ten minutes.');

const checkEveryMs = 250;

/**
 * Kills the process when it exceeds its limits. Resolves with its exit code, null if a signal ended it. Rejects with the
 * signal's reason, and if the process was killed.
 */
export async function ended(child: ChildProcess, { signal, memory }: Limits): Promise<number | null> {
  const kill = () => child.kill('SIGKILL');
  let exceeded = false;
  const timer = setInterval(async () => {
    if ((await residentBytes(child.pid)) <= memory) return;
    exceeded = true;
    kill();
  }, checkEveryMs);
  signal.addEventListener('abort', kill);
  if (signal.aborted) kill();
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    signal.throwIfAborted();
    if (exceeded) throw new Error('A process took more memory than it may');
    // Not by us, so by the system, which had no memory left, or by a person. That says nothing of the file.
    if (child.signalCode === 'SIGKILL') throw new Error('A process was killed');
    return code;
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', kill);
  }
}

async function residentBytes(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

/** A child gets no setting of ours: what it reads may take it over. */
export const bareEnvironment = () => ({ PATH: process.env.PATH ?? '', TMPDIR: process.env.TMPDIR ?? '/tmp' });
