import { baseRate, type Chance, exposedRate, makeWorld, type Scenario } from '@attribution/testing';
import { sumClusters } from '../../src/statistics/clusters.ts';
import { differenceOf, wilson } from '../../src/statistics/intervals.ts';
import { liftOf } from '../../src/statistics/lift.ts';
import { normalQuantile } from '../../src/statistics/student.ts';

/** How often intervals told the truth. Numbers of worlds. */
export interface Coverage {
  readonly worlds: number;
  /** In which something was said; the next ones are of these. */
  readonly said: number;
  /** The interval of the difference held the true one. */
  readonly held: number;
  /** The interval of the lift held the true one. */
  readonly liftHeld: number;
  /** It excluded no effect. */
  readonly excluded: number;
  /** An interval that takes visitors for independent held the true difference. */
  readonly plainHeld: number;
}

interface Interval {
  readonly low: number;
  readonly high: number;
}
const holds = ({ low, high }: Interval, value: number) => low <= value && value <= high;

/** Runs the rules of lift over so many worlds of a scenario. */
export function cover(chance: Chance, scenario: Scenario, worlds: number): Coverage {
  const counts = { said: 0, held: 0, liftHeld: 0, excluded: 0, plainHeld: 0 };
  const truth = 100 * (exposedRate(scenario) - baseRate);
  for (let n = 0; n < worlds; n++) {
    const world = makeWorld(chance, scenario);
    const played = [
      { kind: 'control', holdoutPercent: 10, hours: world.control.length },
      { kind: 'exposed', holdoutPercent: 10, hours: world.exposed.length },
    ] as const;
    const [exposed, control] = [sumClusters(world.exposed), sumClusters(world.control)];
    const answer = liftOf({ design: 'holdout', exposed, control, played });
    const { difference_low, difference_high, lift_low, lift_high } = answer;
    if (difference_low === null || difference_high === null || lift_low === null || lift_high === null) continue;
    counts.said++;
    const difference = { low: difference_low, high: difference_high };
    if (holds(difference, truth)) counts.held++;
    if (!holds(difference, 0)) counts.excluded++;
    if (holds({ low: lift_low, high: lift_high }, scenario.lift)) counts.liftHeld++;
    const [first, second] = [exposed, control].map(({ visitors, converted }) =>
      wilson(converted / visitors, visitors, normalQuantile),
    );
    if (first && second && holds(differenceOf(first, second), truth / 100)) counts.plainHeld++;
  }
  return { worlds, ...counts };
}

/** What the contract allows, in percent. */
export const bounds = { held: [92.5, 98.5], excludedAtMost: 7.5 } as const;

/** A number of worlds in percent of those in which something was said. */
export const percentOf = (count: number, { said }: Coverage): number => (100 * count) / said;

/** Whether what is said holds the truth as often as it has to, and does not see effects where there are none. */
export function isWithinBounds(lift: number, coverage: Coverage): boolean {
  const [least, most] = bounds.held;
  const held = percentOf(coverage.held, coverage);
  return held >= least && held <= most && (lift > 0 || percentOf(coverage.excluded, coverage) <= bounds.excludedAtMost);
}
