/** The 0.975 quantile of the standard normal distribution. */
export const normalQuantile = 1.959963984540054;

/**
 * The probability that Student's t with whole degrees of freedom is within ±t, as a finite sum (Abramowitz and Stegun,
 * Handbook of Mathematical Functions, 26.7.3 and 26.7.4).
 */
export function studentWithin(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const [sine, squaredCosine] = [Math.sin(angle), degrees / (degrees + t * t)];
  const odd = degrees % 2 === 1;
  let term = odd ? Math.sqrt(squaredCosine) : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let power = odd ? 3 : 2; power <= degrees - 2; power += 2) {
    term *= ((power - 1) / power) * squaredCosine;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}

/** From here on the series below is exact to the last digits of a double. */
const manyDegrees = 500;

/** The quantile as a series in 1/degrees around the normal one (Abramowitz and Stegun, 26.7.5). */
function seriesQuantile(degrees: number): number {
  const z = normalQuantile;
  const g1 = (z ** 3 + z) / 4;
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  const g4 = (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92_160;
  return z + g1 / degrees + g2 / degrees ** 2 + g3 / degrees ** 3 + g4 / degrees ** 4;
}

/** The 0.975 quantile of Student's t with whole degrees of freedom, 1 or more. */
export function studentQuantile(degrees: number): number {
  if (degrees >= manyDegrees) return seriesQuantile(degrees);
  let [low, high] = [normalQuantile, 13];
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (studentWithin(middle, degrees) < 0.95) low = middle;
    else high = middle;
  }
}
