import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Chance that a seed replays. */
export interface Chance {
  /** A whole number from `low` to `high`, both possible. */
  int(low: number, high: number): number;
  /** From 0 up to 1. */
  share(): number;
  pick<T>(from: readonly [T, ...T[]]): T;
}

export function chanceFrom(seed: number): Chance {
  const generator = xoroshiro128plus(seed);
  const int = (low: number, high: number) => uniformInt(generator, low, high);
  return {
    int,
    share: () => uniformFloat64(generator),
    pick: (from) => from[int(0, from.length - 1)] ?? from[0],
  };
}
