import { attemptWithin } from '@attribution/runtime';

/** Milliseconds that reading a gauge may take while metrics are scraped: Prometheus does not wait for long. */
export const scrapeTimeoutMs = 2_000;

interface Reading {
  readonly read: () => Promise<void>;
  /** Clears what was read before, so that it is not reported as the present state. */
  readonly forget: () => void;
}

/**
 * Reads gauges for a scrape. A scrape that begins during a read waits for the same result. A read that fails, or takes too
 * long, leaves the gauges out of that scrape; a late result stands until the next one.
 */
export function readOnScrape({ read, forget }: Reading, timeoutMs: number): () => Promise<void> {
  let reading: Promise<boolean> | undefined;
  return async () => {
    reading ??= Promise.try(read)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        reading = undefined;
      });
    const current = reading;
    if (!(await attemptWithin(timeoutMs, () => current))) forget();
  };
}
