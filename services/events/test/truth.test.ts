import { baseRate, chanceFrom, makeWorld } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { sumClusters } from '../src/statistics/clusters.ts';
import { bounds, type Coverage, cover, isWithinBounds, percentOf } from './truth/coverage.ts';

const worlds = 250;
const kinds = [
  { correlation: 0, controlHours: 50 },
  { correlation: 0.05, controlHours: 20 },
  { correlation: 0.1, controlHours: 20 },
];

test.each([0, 30])('the interval of a lift holds the %d %% that were planted as often as it says', (lift) => {
  const all = { worlds: 0, said: 0, held: 0, liftHeld: 0, excluded: 0, plainHeld: 0 };
  for (const [at, kind] of kinds.entries()) {
    const coverage = cover(chanceFrom(20 + at), { lift, ...kind }, worlds);
    for (const name of Object.keys(all) as (keyof Coverage)[]) all[name] += coverage[name];
  }
  expect([all, isWithinBounds(lift, all)]).toEqual([all, true]);
  expect(all.said).toBeGreaterThan(0.9 * all.worlds);
});

test('an interval that takes visitors of one hour for independent holds it too seldom: the worlds tell them apart', () => {
  const coverage = cover(chanceFrom(9), { correlation: 0.1, controlHours: 20, lift: 0 }, worlds);
  expect(percentOf(coverage.plainHeld, coverage)).toBeLessThan(bounds.held[0]);
});

test('worlds have the rates and the correlation that they are asked for', () => {
  const { exposed, control } = makeWorld(chanceFrom(3), { correlation: 0.1, controlHours: 4_000, lift: 50 });
  const [first, second] = [sumClusters(exposed), sumClusters(control)];
  expect(first.converted / first.visitors).toBeCloseTo(1.5 * baseRate, 2);
  expect(second.converted / second.visitors).toBeCloseTo(baseRate, 2);
  // Pairs of visitors of one hour: how much more often both convert than chance would have it.
  let [pairs, both] = [0, 0];
  for (const { visitors, converted } of control) {
    pairs += visitors * (visitors - 1);
    both += converted * (converted - 1);
  }
  expect((both / pairs - baseRate ** 2) / (baseRate * (1 - baseRate))).toBeCloseTo(0.1, 1);
});
