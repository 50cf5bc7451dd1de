/** Things that somebody waits for. */
export interface Load<T, R> {
  readonly items: readonly T[];
  readonly settle: (result: R | Promise<R>) => void;
}

export interface BatchOptions<T, R> {
  /** What a batch may cost, and how many are worked on at once. */
  readonly budget: number;
  readonly width: number;
  readonly costOf: (item: T) => number;
  /** Works on a batch; settles each of its loads, if need be after it has resolved. */
  readonly work: (loads: readonly Load<T, R>[]) => Promise<void>;
}

/**
 * Gathers what comes while others are worked on: the busier it is, the larger the batches. Loads that are given one
 * after the other stay in that order; a load of more than the budget is a batch by itself.
 */
export function gatherBatches<T, R>({ budget, width, costOf, work }: BatchOptions<T, R>) {
  const waiting: Load<T, R>[] = [];
  let working = 0;

  function takeBatch(): Load<T, R>[] {
    let cost = 0;
    const end = waiting.findIndex(({ items }, index) => {
      for (const item of items) cost += costOf(item);
      return index > 0 && cost > budget;
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  }

  async function run(): Promise<void> {
    working++;
    try {
      while (waiting.length > 0) await work(takeBatch());
    } finally {
      working--;
    }
  }

  return (items: readonly T[]): Promise<R> =>
    new Promise((resolve) => {
      waiting.push({ items, settle: resolve });
      if (working < width) void run();
    });
}
