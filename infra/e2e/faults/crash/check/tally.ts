/** The violations found, each described in a line. */
export interface Tally {
  /** Acknowledged or published, but missing. */
  readonly lost: string[];
  /** Present or done more than once. */
  readonly doubled: string[];
  /** Out of the order of its event key. */
  readonly reordered: string[];
  /** Half-written: part of a change without the rest, or refused but present. */
  readonly torn: string[];
}

export const newTally = (): Tally => ({ lost: [], doubled: [], reordered: [], torn: [] });

/** Groups items by a key. */
export function indexBy<T>(items: Iterable<T>, keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  return Map.groupBy(items, keyOf);
}
