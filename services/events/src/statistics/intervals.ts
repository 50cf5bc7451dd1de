/** An estimate and the ends of its interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * A share of `size` (which need not be whole) with its interval (E. B. Wilson, 1927), for the quantile z. The lower end
 * is written as its equal without a difference, so that it is exact where it is small.
 */
export function wilson(share: number, size: number, z: number): Estimate {
  const square = z * z;
  const root = z * Math.sqrt(square + 4 * size * share * (1 - share));
  const high = (2 * size * share + square + root) / (2 * (size + square));
  return { value: share, low: (size * share * share) / ((size + square) * high), high };
}

/** The difference of two shares (R. G. Newcombe, Interval estimation for the difference between independent proportions, 1998, method 10). */
export function differenceOf(first: Estimate, second: Estimate): Estimate {
  const value = first.value - second.value;
  return {
    value,
    low: value - Math.hypot(first.value - first.low, second.high - second.value),
    high: value + Math.hypot(first.high - first.value, second.value - second.low),
  };
}

/**
 * The ratio of two shares, the second above 0 (MOVER-R: A. Donner and G. Y. Zou, Closed-form confidence intervals for
 * functions of the normal mean and standard deviation, 2012). Its interval excludes 1 exactly where that of the difference
 * excludes 0.
 */
export function ratioOf(first: Estimate, second: Estimate): Estimate {
  const product = first.value * second.value;
  const root = (a: number, c: number) => product + Math.sqrt(Math.max(0, product * product - a * c));
  const reflected = (estimate: Estimate, end: number) => end * (2 * estimate.value - end);
  const lowest = reflected(first, first.low);
  const low = first.value === 0 ? 0 : lowest / root(reflected(second, second.high), lowest);
  const divisor = reflected(second, second.low);
  return {
    value: first.value / second.value,
    low,
    high: root(divisor, reflected(first, first.high)) / divisor,
  };
}
