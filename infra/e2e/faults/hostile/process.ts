import { execFile, type Serializable, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * What a process gets of the processors, beside those of the platform. On other machines, as in reality, neither an attacker nor the
 * honest ones would share them.
 *
 * - `first` (SCHED_FIFO, see sched(7)): all that it wants, at once. Only for a process that wants little.
 * - `nice`: what the others leave, in turns of milliseconds.
 * - `idle` (SCHED_IDLE): what the others leave, and no turn while they want to run. On a busy machine it may wait for minutes.
 */
type Priority = HonestPriority | AttackerPriority;
export type HonestPriority = 'first' | 'normal';
export type AttackerPriority = 'nice' | 'idle';

const nice = ['nice', '-n', '19'];
/** Programs that start another one with a priority. */
const starters: Record<Priority, readonly string[]> = {
  first: ['chrt', '--fifo', '1'],
  normal: [],
  nice,
  idle: process.platform === 'linux' ? ['chrt', '--idle', '0'] : nice,
};

const run = promisify(execFile);

/** Whether this machine lets us start processes that go first: Linux asks for a privilege. */
export async function mayGoFirst(): Promise<boolean> {
  const [chrt = '', ...options] = starters.first;
  return run(chrt, [...options, 'true']).then(
    () => true,
    () => false,
  );
}

/**
 * Linux may divide the processor among sessions first (`sched_autogroup`, see sched(7)), and a process's niceness counts within
 * its session alone. That of its session has a file.
 */
async function yieldToSessions(pid: number | undefined): Promise<void> {
  await writeFile(`/proc/${pid}/autogroup`, '19').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error; // There is none where the processor is not divided so.
  });
}

/** A program of this directory in a process of its own, which ends with this one. */
export interface Companion {
  send(message: unknown): void;
  /** Resolves with its next message; rejects if it ends before. One at a time. */
  answer(): Promise<unknown>;
  end(): Promise<void>;
}

export interface CompanionOptions {
  readonly program: string;
  readonly priority: Priority;
  readonly environment: Readonly<Record<string, string>>;
}

export async function startCompanion({ program, priority, environment }: CompanionOptions): Promise<Companion> {
  const node = [process.execPath, '--disable-warning=TimeoutNegativeWarning', join(import.meta.dirname, program)];
  const [command = '', ...options] = [...starters[priority], ...node];
  const child = spawn(command, options, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced', // JSON has no NaN, which is the p99 of no request.
    detached: true, // A session of its own: see `yieldToSessions`.
  });
  if (priority === 'idle' || priority === 'nice') await yieldToSessions(child.pid);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const died = once(child, 'exit').then(([code]) => {
    process.off('exit', kill);
    throw new Error(`${program} ended with ${code}`);
  });
  died.catch(() => {});
  return {
    send: (message) => void child.send(message as Serializable),
    answer: async () => (await Promise.race([once(child, 'message'), died]))[0] as unknown,
    async end() {
      child.kill('SIGKILL');
      await died.catch(() => {});
    },
  };
}
