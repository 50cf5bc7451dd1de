import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds of work at a stretch. */
const stretchMs = 2;
/** Others that took no longer had hardly anything to do. */
const idleMs = 0.5;
/** A stretch may be longer than its work, when it waited for a database or for the processor. */
const longestRestMs = 4;

/** Work of many small steps on an event loop that others need too. */
export interface Pace {
  /** Maps one item after the other. Rests between two of them when it is time. */
  map<Item, Result>(items: readonly Item[], step: (item: Item) => Result): Promise<Result[]>;
}

/** How many milliseconds to rest after a stretch of work, when others have just used so many. */
export const restAfter = (workedMs: number, othersMs: number): number =>
  othersMs < idleMs ? 0 : Math.min(workedMs, longestRestMs);

/**
 * Gives others a turn after each stretch of work, and rests as long as it has worked while they use their turns: half of the
 * event loop is theirs, and all that they do not need is the work's.
 */
export function createPace(): Pace {
  let began = performance.now();

  async function rest(workedMs: number): Promise<void> {
    const stopped = performance.now();
    await nextTurn();
    const restMs = restAfter(workedMs, performance.now() - stopped);
    if (restMs > 0) await sleep(restMs);
    began = performance.now();
  }

  return {
    async map<Item, Result>(items: readonly Item[], step: (item: Item) => Result) {
      const results: Result[] = [];
      for (const item of items) {
        results.push(step(item));
        const workedMs = performance.now() - began;
        if (workedMs >= stretchMs) await rest(workedMs);
      }
      return results;
    },
  };
}
