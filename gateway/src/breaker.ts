export interface Breaker {
  /** Does the work. Rejects when it takes too long, and immediately while the breaker is open. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
  /** Stops probing. */
  stop(): void;
}

export interface BreakerOptions {
  /** How long an attempt may take. */
  readonly timeoutMs: number;
  /** Consecutive attempts that must time out before the breaker opens: a single one may be a hiccup. */
  readonly maxTimeouts: number;
  /** The pause between probes. */
  readonly probeIntervalMs: number;
  /** The breaker closes again when this succeeds within `timeoutMs`. */
  readonly probe: () => Promise<unknown>;
  /** Called with `false` when the breaker opens and with `true` when it closes. */
  readonly onChange: (working: boolean) => void;
}

/**
 * A circuit breaker that keeps a slow dependency from slowing down every request. When attempts time out, no more are
 * made until a probe, which no request waits for, succeeds in time. A failure that comes immediately does not open it:
 * it delays nobody.
 */
export function createBreaker({ timeoutMs, maxTimeouts, probeIntervalMs, probe, onChange }: BreakerOptions): Breaker {
  let working = true;
  let timeouts = 0;
  let stopped = false;
  let nextProbe: NodeJS.Timeout | undefined;

  function change(to: boolean): void {
    if (working === to) return;
    working = to;
    timeouts = 0;
    onChange(to);
    if (!to) scheduleProbe();
  }

  function scheduleProbe(): void {
    if (stopped) return;
    nextProbe = setTimeout(() => {
      withTimeout(probe(), timeoutMs).then(() => change(true), scheduleProbe);
    }, probeIntervalMs).unref();
  }

  return {
    async attempt(work) {
      if (!working) throw new TimedOut();
      try {
        const result = await withTimeout(work(), timeoutMs);
        timeouts = 0;
        return result;
      } catch (error) {
        timeouts = error instanceof TimedOut ? timeouts + 1 : 0;
        if (timeouts === maxTimeouts) change(false);
        throw error;
      }
    },
    stop() {
      stopped = true;
      clearTimeout(nextProbe);
    },
  };
}

class TimedOut extends Error {
  override readonly message = 'It takes too long';
}

/** Rejects with `TimedOut` after `timeoutMs`. */
function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    // A response that arrived while the event loop was blocked is read before the attempt counts as timed out.
    const timer = setTimeout(() => setImmediate(() => reject(new TimedOut())), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
