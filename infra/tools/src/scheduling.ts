import { readFileSync, writeFileSync } from 'node:fs';

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
