import { attemptWithin } from '@attribution/runtime';

/** Milliseconds that what gauges show may take to be read, when metrics are asked for: Prometheus does not wait for long. */
export const askedFor = 2_000;

interface Reading {
  readonly read: () => Promise<void>;
  /** So that what was read before is not told as if it were so now. */
  readonly forget: () => void;
}

/**
 * Reads what gauges show, when metrics are asked for. Who asks while it is being read waits for that same answer. What
 * fails, or is late, is not told; once it has come it stands until the next time.
 */
export function readWhenAsked({ read, forget }: Reading, patience: number): () => Promise<void> {
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
    if (!(await attemptWithin(patience, () => current))) forget();
  };
}
