/** What was found, each with words for a person. */
export interface Tally {
  /** Acknowledged, or told by an event, and not there. */
  readonly lost: string[];
  /** There, or done, more than once. */
  readonly doubled: string[];
  /** Against the order of its key. */
  readonly reordered: string[];
  /** One of what belongs together, without the other; or refused and there. */
  readonly torn: string[];
}

export const newTally = (): Tally => ({ lost: [], doubled: [], reordered: [], torn: [] });

/** Groups items by a key. */
export function indexBy<T>(items: Iterable<T>, keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  return Map.groupBy(items, keyOf);
}
