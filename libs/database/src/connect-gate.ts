export type Done = (error?: Error) => void;

export interface ConnectGate {
  /**
   * Opens a connection, unless another attempt has just failed: then `done` gets that error. While one attempt finds out
   * whether the server accepts connections again, those that come wait for it.
   */
  attempt(open: (done: Done) => void, done: Done): void;
}

/** Between attempts, in milliseconds: doubled with each failure, and a random part shorter, as other processes wait too. */
const pauses = { first: 50, longest: 1_000, random: 0.5 };

interface Refusal {
  readonly error: Error;
  readonly pauseMs: number;
  /** On the clock of `performance.now`. */
  readonly until: number;
  /** Those who wait for the attempt in progress, if there is one. */
  waiting?: (() => void)[];
}

/**
 * Keeps a pool from connecting over and over to a server that does not accept connections. Postgres starts a process for each
 * attempt also while it recovers from a crash, and hundreds of them take the processors from the recovery (ADR 46).
 */
export function createConnectGate(): ConnectGate {
  let refusal: Refusal | undefined;

  function refused(error: Error, pauseMs: number): Refusal {
    const ms = pauseMs * (1 - pauses.random * Math.random());
    return { error, pauseMs, until: performance.now() + ms };
  }

  function probe(open: (done: Done) => void, done: Done, last: Refusal): void {
    const waiting: (() => void)[] = [];
    last.waiting = waiting;
    open((error) => {
      refusal = error && refused(error, Math.min(2 * last.pauseMs, pauses.longest));
      done(error);
      for (const resume of waiting) resume();
    });
  }

  function attempt(open: (done: Done) => void, done: Done): void {
    if (!refusal) {
      open((error) => {
        // Of attempts that were made at once, the first that fails begins a pause, and one that succeeds ends it.
        refusal = error && (refusal ?? refused(error, pauses.first));
        done(error);
      });
    } else if (refusal.waiting) {
      refusal.waiting.push(() => attempt(open, done));
    } else if (performance.now() >= refusal.until) {
      probe(open, done, refusal);
    } else {
      process.nextTick(done, refusal.error);
    }
  }

  return { attempt };
}
