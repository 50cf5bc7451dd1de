import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Random choices that a seed reproduces. */
export interface Chance {
  /** An integer from `low` to `high`, inclusive. */
  int(low: number, high: number): number;
  /** A number from 0 up to, but excluding, 1. */
  share(): number;
  /** Any of these, of which there must be one or more. */
  pick<T>(from: readonly T[]): T;
}

export function chanceFrom(seed: number): Chance {
  const generator = xoroshiro128plus(seed);
  const int = (low: number, high: number) => uniformInt(generator, low, high);
  return {
    int,
    share: () => uniformFloat64(generator),
    pick: <T>(from: readonly T[]) => from[int(0, from.length - 1)] as T,
  };
}
