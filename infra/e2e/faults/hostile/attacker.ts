import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttackResult, Target } from './attack.ts';

/** What the process of an attacker is told, as JSON in ATTACK. */
export interface AttackOrder {
  readonly attack: string;
  readonly target: Target;
}

export interface PreparedAttack {
  begin(): void;
  /** Ends it. Resolves with what it got, and what it has broken that the honest ones do not see. */
  end(): Promise<AttackResult>;
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

/**
 * Programs that start another one, so that it gets what the others leave of the processor. The lowest niceness still has turns of
 * milliseconds. With SCHED_IDLE (see sched(7)) it has none while others want to run, and may wait for minutes on a busy machine.
 */
const nice = ['nice', '-n', '19'] as const;
const lastInLine = { nice, idle: process.platform === 'linux' ? (['chrt', '--idle', '0'] as const) : nice };
export type AttackerPriority = keyof typeof lastInLine;

/**
 * Prepares an attack in a process of its own, which gets what the others leave of the processor. Otherwise the honest ones would
 * wait for the attacker's own work, which is done elsewhere in reality.
 */
export async function prepareAttack(
  attack: string,
  target: Target,
  priority: AttackerPriority,
): Promise<PreparedAttack> {
  const order: AttackOrder = { attack, target };
  const [starter, ...options] = lastInLine[priority];
  const program = join(import.meta.dirname, 'attacker.process.ts');
  const child = spawn(starter, [...options, process.execPath, '--disable-warning=TimeoutNegativeWarning', program], {
    env: { ...process.env, ATTACK: JSON.stringify(order) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true, // A session of its own: see `yieldToSessions`.
  });
  await yieldToSessions(child.pid);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const died = once(child, 'exit').then(([code]) => {
    process.off('exit', kill);
    throw new Error(`The process of the attack “${attack}” ended with ${code}`);
  });
  died.catch(() => {});
  const message = async () => (await Promise.race([once(child, 'message'), died]))[0] as unknown;
  await message();
  return {
    begin: () => void child.send('begin'),
    async end() {
      const ended = message();
      child.send('end');
      const result = (await ended) as AttackResult;
      child.kill('SIGKILL');
      await died.catch(() => {});
      return result;
    },
  };
}
