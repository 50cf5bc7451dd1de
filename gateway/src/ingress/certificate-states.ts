import { LRUCache } from 'lru-cache';

/** What is kept about a certificate: what the Device service has said, and when it was asked. */
interface Known<State> {
  readonly state: Promise<State>;
  /** When the question was sent, by `now()`. The answer may be as old as that. */
  readonly askedAt: number;
}

export interface States<State> {
  /** The state of a fingerprint, however old it is with `anyAge`. Rejects as `ask` does. */
  of(fingerprint: string, anyAge?: boolean): Promise<State>;
  /** The state is asked again at the next request. */
  forget(fingerprint: string): void;
}

export interface StatesOptions<State> {
  readonly ask: (fingerprint: string) => Promise<State>;
  /** How long an answer holds, in milliseconds, from the moment when it was asked for. */
  readonly maxAgeMs: number;
  /** How many are kept. */
  readonly max: number;
  /** Milliseconds. A clock that nobody sets. */
  readonly now?: () => number;
}

/**
 * Remembers answers for a few seconds. Requests that need the same answer at the same time share one question. A failure is
 * not kept.
 */
export function createStates<State>(options: StatesOptions<State>): States<State> {
  const { ask, maxAgeMs, max, now = () => performance.now() } = options;
  const known = new LRUCache<string, Known<State>>({ max });
  return {
    of(fingerprint, anyAge = false) {
      const last = known.get(fingerprint);
      if (last && (anyAge || now() - last.askedAt < maxAgeMs)) return last.state;
      const asked: Known<State> = { state: ask(fingerprint), askedAt: now() };
      known.set(fingerprint, asked);
      asked.state.catch(() => {
        if (known.peek(fingerprint) === asked) known.delete(fingerprint);
      });
      return asked.state;
    },
    forget: (fingerprint) => void known.delete(fingerprint),
  };
}
