import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { designEffect, sumClusters } from '../src/statistics/clusters.ts';
import { erfc } from '../src/statistics/erfc.ts';
import { differenceOf, ratioOf, wilson } from '../src/statistics/intervals.ts';
import { sampleRatio } from '../src/statistics/sample-ratio.ts';
import { normalQuantile, studentQuantile, studentWithin } from '../src/statistics/student.ts';

/** Two arms: converted, visitors, design effect and the quantile of each. */
function compare(
  [x1, n1, d1, z1]: readonly [number, number, number, number],
  [x2, n2, d2, z2]: readonly [number, number, number, number],
) {
  const [exposed, control] = [wilson(x1 / n1, n1 / d1, z1), wilson(x2 / n2, n2 / d2, z2)];
  return { difference: differenceOf(exposed, control), ratio: ratioOf(exposed, control) };
}
const z = normalQuantile;

test.each([
  ['independent visitors', [240, 2000, 1, z], [90, 1000, 1, z], [0.64023, 5.20641], [6.03969, 67.82801]],
  ['visitors alike within hours', [240, 2000, 1.8, z], [90, 1000, 1.3, z], [0.14503, 5.73857], [1.34931, 75.52998]],
  [
    'few hours',
    [240, 2000, 1.8, studentQuantile(179)],
    [90, 1000, 1.3, studentQuantile(19)],
    [0.00608, 5.82379],
    [0.0557, 77.86901],
  ],
] as const)('a difference of 12 % and 9 % has its interval: %s', (_case, exposed, control, ends, lifts) => {
  const { difference, ratio } = compare(exposed, control);
  expect(100 * difference.value).toBeCloseTo(3, 12);
  expect(100 * difference.low).toBeCloseTo(ends[0], 5);
  expect(100 * difference.high).toBeCloseTo(ends[1], 5);
  expect(100 * (ratio.value - 1)).toBeCloseTo(100 / 3, 12);
  expect(100 * (ratio.low - 1)).toBeCloseTo(lifts[0], 5);
  expect(100 * (ratio.high - 1)).toBeCloseTo(lifts[1], 5);
});

test('the example of Newcombe’s paper comes out', () => {
  const { difference } = compare([56, 70, 1, z], [48, 80, 1, z]);
  expect(difference.low).toBeCloseTo(0.0524, 4);
  expect(difference.high).toBeCloseTo(0.3339, 4);
});

test('Wilson’s interval has the ends at which a test of the share would just reject it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), fc.double({ min: 0, max: 1, noNaN: true }), (size, share) => {
      const { low, high } = wilson(share, size, z);
      expect(low).toBeLessThanOrEqual(share + 1e-12);
      expect(high).toBeGreaterThanOrEqual(share - 1e-12);
      for (const end of [low, high]) expect((share - end) ** 2).toBeCloseTo((z * z * end * (1 - end)) / size, 12);
    }),
    { numRuns: 200 },
  );
});

test('the interval of the ratio excludes 1 exactly where that of the difference excludes 0', () => {
  const arm = fc.integer({ min: 5, max: 400 }).chain((n) => fc.tuple(fc.integer({ min: 1, max: n }), fc.constant(n)));
  fc.assert(
    fc.property(arm, arm, ([x1, n1], [x2, n2]) => {
      const { difference, ratio } = compare([x1, n1, 1.2, z], [x2, n2, 1.4, z]);
      if (Math.abs(difference.low) > 1e-9) expect(ratio.low > 1).toBe(difference.low > 0);
      if (Math.abs(difference.high) > 1e-9) expect(ratio.high < 1).toBe(difference.high < 0);
    }),
    { numRuns: 300 },
  );
});

/** From tables of the distribution. */
test.each([
  [1, 12.706204736174707],
  [2, 4.302652729749464],
  [3, 3.182446305283709],
  [19, 2.093024054408263],
  [30, 2.042272456301238],
  [179, 1.973305],
])('Student’s t with %d degrees of freedom has its quantile', (degrees, quantile) => {
  expect(studentQuantile(degrees)).toBeCloseTo(quantile, degrees === 179 ? 6 : 9);
});

test('a quantile of Student’s t leaves 5 % outside, with few degrees of freedom and with many', () => {
  let last = Number.POSITIVE_INFINITY;
  for (const degrees of [1, 2, 3, 4, 5, 50, 499, 500, 501, 2000, 9999]) {
    const quantile = studentQuantile(degrees);
    expect(studentWithin(quantile, degrees)).toBeCloseTo(0.95, 12);
    expect(quantile).toBeLessThan(last);
    expect(quantile).toBeGreaterThan(normalQuantile);
    last = quantile;
  }
});

test('the distribution of Student’s t is the integral of its density', () => {
  for (const degrees of [1, 4, 7]) {
    const density = (t: number) => (1 + (t * t) / degrees) ** (-(degrees + 1) / 2);
    const integral = (to: number) => {
      const steps = 20_000;
      let sum = (density(0) + density(to)) / 2;
      for (let n = 1; n < steps; n++) sum += density((to * n) / steps);
      return (sum * to) / steps;
    };
    // Of the two, one is scaled by the same unknown constant as the other.
    const share = studentWithin(1, degrees) / studentWithin(3, degrees);
    expect(share).toBeCloseTo(integral(1) / integral(3), 8);
  }
});

/** Abramowitz and Stegun, table 7.1, and its continuation. */
test.each([
  [0, 1],
  [0.5, 0.4795001221869535],
  [1, 0.15729920705028513],
  [2, 0.004677734981047266],
  [5, 1.5374597944280349e-12],
])('erfc(%d) is exact', (x, value) => {
  expect(erfc(x) / value).toBeCloseTo(1, 12);
});

const clustersOf = (pairs: readonly (readonly [number, number])[]) =>
  pairs.map(([visitors, converted]) => ({ visitors, converted }));

test('the design effect of the four clusters is 1.631702', () => {
  const sums = sumClusters(
    clustersOf([
      [10, 2],
      [20, 3],
      [15, 6],
      [5, 0],
    ]),
  );
  expect(sums).toMatchObject({ clusters: 4, visitors: 50, converted: 11 });
  expect(designEffect(sums)).toBeCloseTo(1.631702, 6);
});

test('the design effect is that of its definition, whatever the clusters, and at least 1', () => {
  const cluster = fc
    .integer({ min: 1, max: 60 })
    .chain((n) => fc.tuple(fc.constant(n), fc.integer({ min: 0, max: n })));
  fc.assert(
    fc.property(fc.array(cluster, { maxLength: 40 }), (pairs) => {
      const [n, x] = pairs.reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0] as readonly [number, number]);
      const [m, p] = [pairs.length, x / n];
      const spread = pairs.reduce((sum, [size, converted]) => sum + (converted - p * size) ** 2, 0);
      const clustered = ((m / (m - 1)) * spread) / n ** 2;
      const expected = m < 2 || x === 0 || x === n ? 1 : Math.max(1, clustered / ((p * (1 - p)) / n));
      expect(designEffect(sumClusters(clustersOf(pairs)))).toBeCloseTo(expected, 9);
    }),
    { numRuns: 200 },
  );
});

test('34 held hours of 200 at 10 % are a mismatch, and 27 are none', () => {
  const ratio = (control: number) =>
    sampleRatio([
      { kind: 'control', holdoutPercent: 10, hours: control },
      { kind: 'exposed', holdoutPercent: 10, hours: 200 - control },
      { kind: 'mixed', holdoutPercent: 50, hours: 7 },
    ]);
  expect(ratio(34)).toMatchObject({ control_hours: 34, exposed_hours: 166, mixed_hours: 7, mismatch: true });
  expect(ratio(34).expected_control_percent).toBe(10);
  expect(ratio(34).p_value).toBeCloseTo(erfc(Math.sqrt(10.888888888888889 / 2)), 12);
  expect(ratio(27).mismatch).toBe(false);
});

test('hours that were all to be held, or none, say nothing about chance', () => {
  expect(
    sampleRatio([
      { kind: 'control', holdoutPercent: 100, hours: 3 },
      { kind: 'exposed', holdoutPercent: 0, hours: 5 },
    ]),
  ).toMatchObject({ expected_control_percent: 37.5, p_value: null, mismatch: false });
  expect(sampleRatio([])).toMatchObject({ expected_control_percent: null, p_value: null, mismatch: false });
});
