/** Attempts of one client that may wait at once. */
const maxWaiting = 100;

interface Lane {
  /** Attempts that have come and not yet gone. */
  present: number;
  /** Those let in and not yet judged. */
  inHand: number;
  /** How many have been judged: whoever looked before one of them was, looks again. */
  judged: number;
  readonly waiting: (() => void)[];
}

export interface AttemptGate {
  /**
   * Admits an attempt while fewer are in hand than `left` says may still fail; else waits for one to leave and asks
   * again. Returns what to call, once, when the attempt has been judged. Rejects when `left` does, and with `crowded()`
   * when too many wait.
   */
  enter(key: string, left: () => Promise<number>, crowded: () => Error): Promise<() => void>;
}

/**
 * Keeps parallel attempts from overshooting a limit that is counted after the answer, without refusing good ones:
 * a limit checked before and counted after would let any number of parallel guesses through.
 */
export function createAttemptGate(): AttemptGate {
  const lanes = new Map<string, Lane>();

  function go(key: string, lane: Lane): void {
    lane.present--;
    if (lane.present === 0) lanes.delete(key);
    else lane.waiting.shift()?.();
  }

  return {
    async enter(key, left, crowded) {
      const lane = lanes.get(key) ?? { present: 0, inHand: 0, judged: 0, waiting: [] };
      lanes.set(key, lane);
      lane.present++;
      let place: 'push' | 'unshift' = 'push';
      try {
        for (;;) {
          const { judged } = lane;
          const room = Math.max(1, await left());
          if (lane.judged !== judged) continue;
          if (lane.inHand < room) break;
          // Who waits will be woken: somebody is in hand now, and leaves some time.
          if (place === 'push' && lane.waiting.length >= maxWaiting) throw crowded();
          await new Promise<void>((resolve) => lane.waiting[place](resolve));
          place = 'unshift'; // Woken too early: first in the line again.
        }
      } catch (error) {
        go(key, lane);
        throw error;
      }
      lane.inHand++;
      return () => {
        lane.inHand--;
        lane.judged++;
        go(key, lane);
      };
    },
  };
}
