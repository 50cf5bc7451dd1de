/** Milliseconds that a key waits after a failure, at most. */
const maxPauseMs = 5_000;
/** Milliseconds after which a key that waits no longer is forgotten: another replica may have published its events. */
const forgetAfterMs = 60_000;

interface Blocked {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly failures: number;
}

/** Ordering keys of which an event could not be published: they wait, with growing pauses, while others go on. */
export class BlockedKeys {
  readonly #blocked = new Map<string, Blocked>();

  block(orderingKey: string): void {
    const failures = (this.#blocked.get(orderingKey)?.failures ?? 0) + 1;
    this.#blocked.set(orderingKey, { failures, until: Date.now() + Math.min(100 * 2 ** failures, maxPauseMs) });
  }

  /** An event of each of these was published. */
  release(orderingKeys: () => Iterable<string>): void {
    if (this.#blocked.size > 0) for (const key of orderingKeys()) this.#blocked.delete(key);
  }

  /** Those that wait now. */
  waiting(): string[] {
    const now = Date.now();
    for (const [key, { until }] of this.#blocked) if (until + forgetAfterMs < now) this.#blocked.delete(key);
    return [...this.#blocked].filter(([, { until }]) => until > now).map(([key]) => key);
  }
}
