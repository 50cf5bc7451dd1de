import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds of processor time that each of so many seconds cost this process, while it waits. */
export async function idleCost(seconds: number): Promise<{ readonly cost: number }> {
  const before = process.cpuUsage();
  await sleep(1_000 * seconds);
  const { user, system } = process.cpuUsage(before);
  return { cost: (user + system) / 1_000 / seconds };
}
