import { setTimeout as sleep } from 'node:timers/promises';

/** Waits up to a minute until a count has come down to `wanted`, and returns it. */
export async function settled(count: () => Promise<number>, wanted: number): Promise<number> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = await count();
    if (found <= wanted || Date.now() > deadline) return found;
    await sleep(100);
  }
}
