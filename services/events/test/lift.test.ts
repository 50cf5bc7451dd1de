import { expect, test } from '@jest/globals';
import { sumClusters } from '../src/statistics/clusters.ts';
import { type Design, liftOf } from '../src/statistics/lift.ts';
import type { PlayedHours } from '../src/statistics/sample-ratio.ts';

/** An arm of equal clusters. */
const arm = (clusters: number, visitors: number, converted: number) =>
  sumClusters(Array.from({ length: clusters }, () => ({ visitors, converted })));

const played = (control: number, exposed: number): PlayedHours[] => [
  { kind: 'control', holdoutPercent: 10, hours: control },
  { kind: 'exposed', holdoutPercent: 10, hours: exposed },
];

const lift = (design: Design, exposed = arm(180, 10, 2), control = arm(20, 10, 1), hours = played(20, 180)) =>
  liftOf({ design, exposed, control, played: hours });

const unsaid = {
  ...{ difference: null, difference_low: null, difference_high: null },
  ...{ lift: null, lift_low: null, lift_high: null },
};

test('a lift is said with both rates, their difference and the intervals of all', () => {
  const said = lift('holdout');
  expect(said).toMatchObject({
    reason: null,
    difference: 10,
    lift: 100,
    exposed: { visitors: 1800, converted: 360, rate: 20, clusters: 180, design_effect: 1 },
    control: { visitors: 200, converted: 20, rate: 10, clusters: 20, design_effect: 1 },
    sample_ratio: { control_hours: 20, exposed_hours: 180, mismatch: false },
  });
  expect(said.lift_low).toBeGreaterThan(0);
  expect(said.difference_low).toBeGreaterThan(0);
  expect(said.control.rate_low).toBeLessThan(10);
});

test('few hours make an interval wider with a holdout, and change nothing without', () => {
  const [few, many] = [arm(20, 10, 1), arm(200, 1, 0)];
  const same = { ...many, converted: 20, convertedSquared: 20n, visitorsByConverted: 20n };
  const width = (design: Design, control: typeof few) => {
    const { rate_low, rate_high } = lift(design, undefined, control).control;
    return (rate_high ?? 0) - (rate_low ?? 0);
  };
  expect(width('holdout', few)).toBeGreaterThan(width('holdout', same));
  expect(width('observational', few)).toBeLessThan(width('holdout', few));
});

test.each([
  ['no_exposed', arm(0, 0, 0), arm(0, 0, 0)],
  ['no_control', arm(180, 10, 2), arm(0, 0, 0)],
  ['too_few_visitors', arm(180, 10, 2), arm(9, 11, 1)],
  ['too_few_conversions', arm(4, 100, 1), arm(20, 10, 1)],
  ['too_few_clusters', arm(180, 10, 2), arm(19, 10, 1)],
  ['sample_ratio_mismatch', arm(180, 10, 2), arm(20, 10, 1)],
])('nothing is said where it cannot be: %s comes before what follows', (reason, exposed, control) => {
  const said = lift('holdout', exposed, control, played(60, 140));
  expect(said).toMatchObject({ reason, ...unsaid, sample_ratio: { mismatch: true } });
});

test('without a holdout there is no ratio of samples, and few hours are no reason', () => {
  const said = lift('observational', arm(1, 1800, 360), arm(1, 200, 20), played(60, 140));
  expect(said).toMatchObject({ reason: null, sample_ratio: null, lift: 100 });
});

test('an arm of nobody has no rates, and one of a single hour has no interval with a holdout', () => {
  const none = { rate: null, rate_low: null, rate_high: null, visitors: 0, design_effect: 1 };
  expect(lift('holdout', arm(0, 0, 0)).exposed).toMatchObject(none);
  expect(lift('holdout', arm(1, 10, 4)).exposed).toMatchObject({ rate: 40, rate_low: null, rate_high: null });
  expect(lift('observational', arm(1, 10, 4)).exposed.rate_low).toBeGreaterThan(0);
});
