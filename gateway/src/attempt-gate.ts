/** Attempts of one client that may wait at the same time. */
const maxWaiting = 100;

interface Lane {
  /** Attempts that wait or are in progress. */
  present: number;
  /** Attempts that were admitted and have no result yet. */
  inProgress: number;
  /** Attempts that have had a result. A count of remaining failures that was read before the last one is out of date. */
  finished: number;
  readonly waiting: (() => void)[];
}

export interface AttemptGate {
  /**
   * Admits an attempt while fewer are in progress than `remaining` says may still fail. Otherwise the attempt waits until
   * one finishes, and `remaining` is called again. Resolves with a function to call, once, when the attempt has its
   * result. Rejects when `remaining` rejects, and with `tooManyWaiting()` when the line is full.
   */
  enter(key: string, remaining: () => Promise<number>, tooManyWaiting: () => Error): Promise<() => void>;
}

/**
 * Keeps parallel attempts from exceeding a limit that is counted after the response, without refusing valid ones.
 * A limit that is checked before and counted after would let any number of parallel guesses through.
 */
export function createAttemptGate(): AttemptGate {
  const lanes = new Map<string, Lane>();

  function leave(key: string, lane: Lane): void {
    lane.present--;
    if (lane.present === 0) lanes.delete(key);
    else lane.waiting.shift()?.();
  }

  return {
    async enter(key, remaining, tooManyWaiting) {
      const lane = lanes.get(key) ?? { present: 0, inProgress: 0, finished: 0, waiting: [] };
      lanes.set(key, lane);
      lane.present++;
      let place: 'push' | 'unshift' = 'push';
      try {
        for (;;) {
          const { finished } = lane;
          const capacity = Math.max(1, await remaining());
          if (lane.finished !== finished) continue;
          if (lane.inProgress < capacity) break;
          // A waiting attempt is always woken: at least one is in progress now, and wakes the next when it finishes.
          if (place === 'push' && lane.waiting.length >= maxWaiting) throw tooManyWaiting();
          await new Promise<void>((resolve) => lane.waiting[place](resolve));
          place = 'unshift'; // If it was woken too early it goes back to the front of the line.
        }
      } catch (error) {
        leave(key, lane);
        throw error;
      }
      lane.inProgress++;
      return () => {
        lane.inProgress--;
        lane.finished++;
        leave(key, lane);
      };
    },
  };
}
