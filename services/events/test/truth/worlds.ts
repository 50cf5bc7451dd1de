import type { Chance } from '@attribution/testing';
import type { Cluster } from '../../src/statistics/clusters.ts';

/** A campaign with a holdout whose effect is known, because it was made. */
export interface Scenario {
  /** How alike the visitors of an hour are: 0, not at all; 1, all convert or none does. */
  readonly correlation: number;
  readonly controlHours: number;
  /** In percent of the rate without the campaign. */
  readonly lift: number;
}

export interface World {
  readonly exposed: readonly Cluster[];
  readonly control: readonly Cluster[];
}

/** The share of visitors who convert without the campaign. */
export const baseRate = 0.1;
/** Of each ten hours one is held. */
export const exposedHoursPerControlHour = 9;
const visitorsOfAnHour = [2, 20] as const;

/** A standard normal variable (G. E. P. Box and M. E. Muller, 1958). */
const normal = (chance: Chance) =>
  Math.sqrt(-2 * Math.log(1 - chance.share())) * Math.cos(2 * Math.PI * chance.share());

/** A gamma variable (G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, 2000). */
function gamma(chance: Chance, shape: number): number {
  if (shape < 1) return gamma(chance, shape + 1) * (1 - chance.share()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(chance);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - chance.share()) < x * x * 0.5 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** The rate of an hour: beta with this mean, so that two visitors of the hour have this correlation. */
function rateOfHour(chance: Chance, mean: number, correlation: number): number {
  if (correlation === 0) return mean;
  const size = 1 / correlation - 1;
  const [a, b] = [gamma(chance, mean * size), gamma(chance, (1 - mean) * size)];
  return a / (a + b);
}

function hour(chance: Chance, mean: number, correlation: number): Cluster {
  const rate = rateOfHour(chance, mean, correlation);
  const visitors = chance.int(...visitorsOfAnHour);
  let converted = 0;
  for (let n = 0; n < visitors; n++) if (chance.share() < rate) converted++;
  return { visitors, converted };
}

/** The share of visitors who convert with the campaign. */
export const exposedRate = ({ lift }: Scenario): number => baseRate * (1 + lift / 100);

export function makeWorld(chance: Chance, scenario: Scenario): World {
  const { correlation, controlHours } = scenario;
  const hours = (count: number, rate: number) => Array.from({ length: count }, () => hour(chance, rate, correlation));
  return {
    exposed: hours(exposedHoursPerControlHour * controlHours, exposedRate(scenario)),
    control: hours(controlHours, baseRate),
  };
}
