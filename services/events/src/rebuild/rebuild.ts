import { rebuildRollups } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { markDirty } from '../dirty/index.ts';
import type { EventsDatabase } from '../store.ts';
import { localTimeOf } from '../time/index.ts';
import { boundsOf, hourOfEachDay } from './days.ts';
import { type Filled, findBegun, findFilled } from './rebuild.store.ts';

/** Locations in one statement, so that it takes a fraction of a second even for years of days. */
const mostLocations = 25;

/** Locations of one time zone, in parts. */
function partsOf(filled: readonly Filled[]): Filled[][] {
  const byZone = Map.groupBy(filled, ({ timezone }) => timezone);
  return [...byZone.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / mostLocations) }, (_, n) =>
      all.slice(n * mostLocations, (n + 1) * mostLocations),
    ),
  );
}

/** The days from the first item of these locations to their last one, within the range that was asked for. */
function daysOf(
  part: readonly Filled[],
  timezone: string,
  range: { from?: string | undefined; to?: string | undefined },
) {
  const localTime = localTimeOf(timezone);
  const first = localTime(Math.min(...part.map((one) => one.first))).date;
  const last = localTime(Math.max(...part.map((one) => one.last))).date;
  const { from = first, to = last } = range;
  return { from: [from, first].toSorted()[1] ?? first, to: [to, last].toSorted()[0] ?? last };
}

/** Marks days whose facts are then recomputed as those of any new item, so that it does not matter what comes in meanwhile. */
export const rebuildEndpoint = ({ database: { sql } }: { readonly database: EventsDatabase }) =>
  implement(rebuildRollups, async ({ body: { account_id, location_ids, ...range } }) => {
    let location_days = 0;
    for (const part of partsOf(await findFilled(sql, account_id, location_ids ?? null))) {
      const timezone = part[0]?.timezone ?? '';
      const days = daysOf(part, timezone, range);
      if (days.from > days.to) continue;
      const ids = part.map(({ id }) => id);
      const begun = await findBegun(sql, account_id, ids, boundsOf(days, timezone));
      const hours = hourOfEachDay(begun, days, timezone);
      await markDirty(sql, account_id, hours, null);
      location_days += hours.length;
    }
    return { location_days };
  });
