import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';

/** Linux divides the processors among sessions before it looks at their threads while this is 1. See sched(7). */
const autogroups = '/proc/sys/kernel/sched_autogroup_enabled';

/**
 * Has the processors divided among threads instead of sessions until this process exits, where it may. Each process of Postgres
 * has a session of its own, and some wait for seconds beside one with many busy threads (ADR 47).
 */
export function divideByThread(say: (line: string) => void, file = autogroups): void {
  try {
    const before = readFileSync(file, 'utf8');
    if (before.trim() === '0') return;
    writeFileSync(file, '0');
    process.once('exit', () => writeFileSync(file, before));
    say(`Processors: divided among threads instead of sessions, meanwhile (${file})`);
  } catch {
    // Another system, or not its administrator.
  }
}

/** Has this process exit when it is interrupted, so that what is undone at its exit is undone then, too: Node would end without that. */
export function exitWhenInterrupted(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
}
