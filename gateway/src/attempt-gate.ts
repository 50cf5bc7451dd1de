import { Problem } from '@attribution/contracts';

/** Attempts of one client that may wait at once. */
const maxWaiting = 100;

interface Lane {
  inHand: number;
  readonly waiting: (() => void)[];
}

export interface AttemptGate {
  /**
   * Admits an attempt while fewer are in hand than `left` says may still fail; else waits for one to leave and asks
   * again. Returns what to call when the attempt has been judged. Rejects when `left` does.
   */
  enter(key: string, left: () => Promise<number>): Promise<() => void>;
}

/**
 * Keeps parallel attempts from overshooting a limit that is counted after the answer, without refusing good ones:
 * a limit checked before and counted after would let any number of parallel guesses through.
 */
export function createAttemptGate(): AttemptGate {
  const lanes = new Map<string, Lane>();

  function leave(key: string, lane: Lane): void {
    lane.inHand--;
    const next = lane.waiting.shift();
    if (next) next();
    else if (lane.inHand === 0) lanes.delete(key);
  }

  return {
    async enter(key, left) {
      const lane = lanes.get(key) ?? { inHand: 0, waiting: [] };
      lanes.set(key, lane);
      lane.inHand++;
      try {
        while (lane.inHand > Math.max(1, await left())) {
          if (lane.waiting.length >= maxWaiting) {
            throw new Problem('rate-limited', 'Too many attempts at once from this address.', { 'retry-after': '1' });
          }
          lane.inHand--;
          await new Promise<void>((resolve) => lane.waiting.push(resolve));
          lane.inHand++;
        }
      } catch (error) {
        leave(key, lane);
        throw error;
      }
      let gone = false;
      return () => {
        if (gone) return;
        gone = true;
        leave(key, lane);
      };
    },
  };
}
