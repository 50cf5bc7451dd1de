import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for some seconds. Resolves to the milliseconds of CPU time that the process used in each of them. */
export async function idleCost(seconds: number): Promise<{ readonly cost: number }> {
  const before = process.cpuUsage();
  await sleep(1_000 * seconds);
  const { user, system } = process.cpuUsage(before);
  return { cost: (user + system) / 1_000 / seconds };
}
