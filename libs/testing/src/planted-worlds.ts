import { newUuid } from '@attribution/ids';
import type { Chance } from './chance.ts';

/** Visitors of one location and hour, and how many of them converted. */
interface Cluster {
  readonly visitors: number;
  readonly converted: number;
}

/** A campaign with a holdout whose effect is known, because it was made. */
export interface Scenario {
  /** How alike the visitors of an hour are: 0, not at all; 1, all convert or none does. */
  readonly correlation: number;
  readonly controlHours: number;
  /** For each hour of control; by default 9, so that one hour of ten is held. */
  readonly exposedHoursPerControlHour?: number;
  /** In percent of the rate without the campaign. */
  readonly lift: number;
}

export interface PlantedWorld {
  readonly exposed: readonly Cluster[];
  readonly control: readonly Cluster[];
}

/** The share of visitors who convert without the campaign. */
export const baseRate = 0.1;
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

export function makeWorld(chance: Chance, scenario: Scenario): PlantedWorld {
  const { correlation, controlHours, exposedHoursPerControlHour = 9 } = scenario;
  const hours = (count: number, rate: number) => Array.from({ length: count }, () => hour(chance, rate, correlation));
  return {
    exposed: hours(exposedHoursPerControlHour * controlHours, exposedRate(scenario)),
    control: hours(controlHours, baseRate),
  };
}

/** Where the campaign of a world plays. */
interface Stage {
  readonly location_id: string;
  readonly timezone: string;
  readonly zone_id: string;
  readonly screen_id: string;
  readonly campaign_ad_id: string;
  readonly version: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const iso = (instant: number) => new Date(instant).toISOString();

/** Instants of so many different hours by the local clock, whole ones, from some hours before on backwards. */
function hoursBefore(before: number, count: number, timezone: string): number[] {
  const hours = new Map<string, number>();
  for (let at = before - (before % hourMs) - 2 * hourMs; hours.size < count; at -= hourMs) {
    const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
    hours.set(`${local.toPlainDate()} ${local.hour}`, at);
  }
  return [...hours.values()];
}

/** Within so long after their visits those who convert come again, and nobody else. */
export const plantedWindow = '20m';

/** What a device tells of a world: in each hour a play, real or held, whom it met, and who of these came again. */
export function itemsOf(world: PlantedWorld, stage: Stage, before: number, chance: Chance) {
  const { location_id, zone_id, screen_id, campaign_ad_id, version, timezone } = stage;
  const [visits, plays]: [object[], object[]] = [[], []];
  const come = (visitor_key: string, from: number, to: number, inZone: boolean) => {
    const stay = { entered_at: iso(from), left_at: iso(to) };
    const zones = inZone ? [{ zone_id, ...stay }] : [];
    visits.push({ event_id: newUuid(), visitor_key, location_id, ...stay, zones });
  };
  const clusters = [
    ...world.exposed.map((cluster) => ({ ...cluster, holdout: false })),
    ...world.control.map((cluster) => ({ ...cluster, holdout: true })),
  ];
  const hours = hoursBefore(before, clusters.length, timezone);
  for (const { visitors, converted, holdout } of clusters) {
    const [hour = 0] = hours.splice(chance.int(0, hours.length - 1), 1);
    const [started_at, ended_at] = [iso(hour + 5 * minuteMs), iso(hour + 15 * minuteMs)];
    plays.push({ event_id: newUuid(), screen_id, campaign_ad_id, version, holdout, started_at, ended_at });
    for (let n = 0; n < visitors; n++) {
      const [key, from] = [newUuid(), hour + 5 * minuteMs + chance.int(0, 5 * minuteMs)];
      come(key, from, from + 2 * minuteMs, true);
      if (n < converted) come(key, from + 4 * minuteMs, from + 6 * minuteMs, false);
    }
  }
  return { visits, plays };
}
