import * as contracts from '@attribution/contracts';
import { type RawVisit, recountOf } from '@attribution/testing';
import { type Chain, forEach, type Shop, timezone } from './chain.ts';
import type { Day } from './items.ts';

/** How many figures were compared, and those that differ from the recount. */
interface Compared {
  readonly figures: number;
  readonly wrong: readonly string[];
}

const window = '30m';
const windowMs = 30 * 60_000;

/** Compares each hour of each location, and what is said of it as a whole, with a recount of its items. */
export async function compareFigures(chain: Chain, day: Day): Promise<Compared> {
  let figures = 0;
  const wrong: string[] = [];
  const client = await chain.owner();
  function compare(what: string, told: object, expected: object): void {
    const [has, wants] = [leavesOf(told), leavesOf(expected)];
    for (const [name, value] of wants) {
      figures++;
      const found = has.get(name);
      if (!isSame(found, value)) wrong.push(`${what} ${name}: ${found} instead of ${value}`);
    }
  }
  const byLocation = { visits: Map.groupBy(day.visits, locationOf), plays: Map.groupBy(day.plays, locationOf) };
  const controls = new Map(
    chain.campaigns.map(({ id }) => [id, { visitors: [0, 0], converted: [0, 0], clusters: [0, 0] }]),
  );
  await forEach(chain.shops, async ({ location }: Shop) => {
    const visits = byLocation.visits.get(location) ?? [];
    const plays = byLocation.plays.get(location) ?? [];
    const query = { location_ids: location, from: day.date, to: day.date };
    const series = await client.call(contracts.getVisitsTimeseries, { query: { ...query, interval: 'hour' } });
    compare(`visits of ${location}`, byHour(series.body.buckets), visitsByHour(visits));

    for (const { id, holdoutPercent } of chain.campaigns) {
      const about = { campaign: id, locations: [location], windowMs, asOf: Date.now() };
      const items = {
        visits,
        plays,
        clocks: new Map([[location, timezone]]),
        holdouts: new Map([[1, holdoutPercent]]),
      };
      const recount = recountOf(items, { ...about, from: day.date, to: day.date });
      const params = { id };
      const hours = await client.call(contracts.getCampaignTimeseries, {
        params,
        query: { ...query, interval: 'hour' },
      });
      const expected = Object.fromEntries(recount.series((_, hour) => String(hour)));
      compare(`${id} in ${location}`, byHour(hours.body.buckets), { ...nothingPlayed(), ...expected });
      const { body } = await client.call(contracts.getCampaignPerformance, { params, query: { ...query, window } });
      compare(`performance of ${id} in ${location}`, body, recount.performance());
      const { exposed, control } = recount.lift();
      const sums = controls.get(id);
      for (const [arm, clusters] of [exposed, control].entries())
        for (const { visitors, converted } of clusters) add(sums, arm, visitors, converted);
    }
  });
  for (const [id, sums] of controls) {
    const query = { from: day.date, to: day.date, window };
    const { exposed, control } = (await client.call(contracts.getCampaignLift, { params: { id }, query })).body;
    compare(`lift of ${id}`, { exposed, control }, { exposed: armOf(sums, 0), control: armOf(sums, 1) });
  }
  const { visits, visitors } = (await client.call(contracts.summarizeVisits)).body;
  const everybody = new Set(day.visits.map(({ visitor_key }) => visitor_key)).size;
  compare('the account', { visits, visitors }, { visits: day.visits.length, visitors: everybody });
  return { figures, wrong };
}

type Sums = Record<'visitors' | 'converted' | 'clusters', [number, number] | number[]>;

/** Nobody comes to two locations, so what is told of all of them together is a sum. */
function add(sums: Sums | undefined, arm: number, visitors: number, converted: number): void {
  if (!sums) return;
  for (const [name, count] of Object.entries({ visitors, converted, clusters: 1 })) {
    const both = sums[name as keyof Sums];
    both[arm] = (both[arm] ?? 0) + count;
  }
}

const armOf = (sums: Sums, arm: number) => ({
  visitors: sums.visitors[arm] ?? 0,
  converted: sums.converted[arm] ?? 0,
  clusters: sums.clusters[arm] ?? 0,
});

const locationOf = ({ location_id }: { readonly location_id: string }) => location_id;
const hours = Array.from({ length: 24 }, (_, hour) => hour);
const hourOf = (instant: number) => Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timezone).hour;

const byHour = (buckets: readonly { readonly hour?: number | undefined }[]) =>
  Object.fromEntries(buckets.map(({ hour, ...bucket }) => [String(hour), bucket]));

const nothingPlayed = () => {
  const none = { plays: 0, play_ms: 0, opportunities_to_see: 0, exposed_visits: 0, exposed_visitors: 0 };
  return Object.fromEntries(hours.map((hour) => [String(hour), none]));
};

function visitsByHour(visits: readonly RawVisit[]) {
  const begun = Map.groupBy(visits, ({ start }) => hourOf(start));
  return Object.fromEntries(
    hours.map((hour) => {
      const own = begun.get(hour) ?? [];
      const dwells = own.map(({ start, end }) => end - start).toSorted((a, b) => a - b);
      const mean = dwells.reduce((sum, ms) => sum + ms, 0) / dwells.length;
      return [
        String(hour),
        {
          visits: own.length,
          visitors: new Set(own.map(({ visitor_key }) => visitor_key)).size,
          mean_dwell_ms: own.length === 0 ? null : Math.floor(mean + 0.5),
          median_dwell_ms: dwells[Math.ceil(dwells.length / 2) - 1] ?? null,
        },
      ];
    }),
  );
}

type Leaf = string | number | boolean | null;

/** Every value in a tree of objects, by its path. */
function leavesOf(value: object, path = ''): Map<string, Leaf> {
  return new Map(
    Object.entries(value).flatMap(([name, inner]: [string, Leaf | object]) =>
      typeof inner === 'object' && inner !== null
        ? [...leavesOf(inner, `${path}${name}.`)]
        : [[`${path}${name}`, inner] as const],
    ),
  );
}

/** Doubles that were reached in another order differ in their last digits. */
const isSame = (a: Leaf | undefined, b: Leaf) =>
  typeof a === 'number' && typeof b === 'number' ? Math.abs(a - b) <= 1e-9 * Math.abs(b) : a === b;
