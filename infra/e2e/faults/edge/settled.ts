import { setTimeout as sleep } from 'node:timers/promises';

/** A count when it has come down to what it was; else what it is after ten seconds. */
export async function settled(count: () => Promise<number>, wanted: number): Promise<number> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const found = await count();
    if (found <= wanted || Date.now() > deadline) return found;
    await sleep(100);
  }
}
