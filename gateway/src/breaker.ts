export interface Breaker {
  /** Does the work, or rejects: when it takes too long, and at once while nothing is expected of it. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
  /** Probes no more. */
  stop(): void;
}

export interface BreakerOptions {
  /** Milliseconds that an attempt may take. */
  readonly patience: number;
  /** Attempts in a row that must take too long: one alone may be a hiccup. */
  readonly strikes: number;
  /** Milliseconds between probes. */
  readonly pause: number;
  /** Attempts are made again when this has been done in time. */
  readonly probe: () => Promise<unknown>;
  /** Told when attempts end, and when they begin again. */
  readonly onChange: (working: boolean) => void;
}

/**
 * Keeps what is slow from slowing down everybody: when attempts take too long, none is made until a probe, beside the
 * requests, is answered in time. What fails at once costs nobody time, and is tried again at once.
 */
export function createBreaker({ patience, strikes, pause, probe, onChange }: BreakerOptions): Breaker {
  let working = true;
  let late = 0;
  let stopped = false;
  let next: NodeJS.Timeout | undefined;

  function change(to: boolean): void {
    if (working === to) return;
    working = to;
    late = 0;
    onChange(to);
    if (!to) probeSoon();
  }

  function probeSoon(): void {
    if (stopped) return;
    next = setTimeout(() => {
      inTime(probe(), patience).then(() => change(true), probeSoon);
    }, pause).unref();
  }

  return {
    async attempt(work) {
      if (!working) throw new Late();
      try {
        const result = await inTime(work(), patience);
        late = 0;
        return result;
      } catch (error) {
        late = error instanceof Late ? late + 1 : 0;
        if (late === strikes) change(false);
        throw error;
      }
    },
    stop() {
      stopped = true;
      clearTimeout(next);
    },
  };
}

class Late extends Error {
  override readonly message = 'It takes too long';
}

/** Rejects with `Late` after `patience` milliseconds. */
function inTime<T>(work: Promise<T>, patience: number): Promise<T> {
  return new Promise((resolve, reject) => {
    // What has arrived while this process was busy is read before it is called late.
    const timer = setTimeout(() => setImmediate(() => reject(new Late())), patience);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
