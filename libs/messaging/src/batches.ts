/** Items that one caller waits for. */
export interface Submission<T, R> {
  readonly items: readonly T[];
  readonly settle: (result: R | Promise<R>) => void;
}

export interface BatchOptions<T, R> {
  /** The costs of a batch's items add up to this, at most. */
  readonly maxCost: number;
  readonly costOf: (item: T) => number;
  /** Batches that are worked on at a time. */
  readonly concurrency: number;
  /** Works on a batch, and settles each of its submissions: some of them perhaps after it has resolved. */
  readonly work: (submissions: readonly Submission<T, R>[]) => Promise<void>;
}

/**
 * Gathers what is submitted while other batches are worked on: the higher the load, the larger the batches. Submissions
 * keep their order and stay whole; one that costs more than the maximum is a batch by itself.
 */
export function gatherBatches<T, R>({ maxCost, costOf, concurrency, work }: BatchOptions<T, R>) {
  const waiting: Submission<T, R>[] = [];
  let running = 0;

  function takeBatch(): Submission<T, R>[] {
    let cost = 0;
    const end = waiting.findIndex(({ items }, index) => {
      for (const item of items) cost += costOf(item);
      return index > 0 && cost > maxCost;
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  }

  async function run(): Promise<void> {
    running++;
    try {
      while (waiting.length > 0) await work(takeBatch());
    } finally {
      running--;
    }
  }

  return (items: readonly T[]): Promise<R> =>
    new Promise((resolve) => {
      waiting.push({ items, settle: resolve });
      if (running < concurrency) void run();
    });
}
