const precision = 1e-17;

/** 1 - erf(x) by the series of erf, which is exact for small x. */
function bySeries(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; Math.abs(term) > precision * Math.abs(sum); n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return 1 - (2 / Math.sqrt(Math.PI)) * sum;
}

/** By the continued fraction x + (1/2)/(x + 1/(x + (3/2)/(x + …))), from its far end, which is exact for larger x. */
function byFraction(x: number): number {
  let tail = x;
  for (let n = 200; n >= 1; n--) tail = x + n / 2 / tail;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * tail);
}

/** The complementary error function of x ≥ 0, to a relative error of 1e-13 or so. */
export const erfc = (x: number): number => (x < 1 ? bySeries(x) : byFraction(x));
