import type { Sql } from '@attribution/database';
import type { LocalHour } from '../time/index.ts';
import { type Calendar, hourMs, localHoursOf } from './calendar.ts';
import { factsOf } from './day.ts';
import { replacePart } from './fact.store.ts';
import { type Between, findPlays, findVisits, type Place } from './raw.store.ts';

/** The stretches that hours make which follow each other. Hours are their first instants, in order. */
export function stretchesOf(hours: readonly number[]): Between[] {
  const stretches: { from: number; to: number }[] = [];
  for (const hour of hours) {
    const last = stretches.at(-1);
    if (last?.to === hour) last.to += hourMs;
    else stretches.push({ from: hour, to: hour + hourMs });
  }
  return stretches;
}

const minuteMs = 60_000;

/** The local hours that a stretch touches, and the stretch that these are: it is longer where they are no hours of the universal time. */
function localHours({ from, to }: Between, calendar: Calendar) {
  const { localTime, isKept } = calendar;
  const keyOf = ({ date, hour }: LocalHour) => `${date} ${hour}`;
  const hours = new Map(
    Array.from({ length: (to - from) / hourMs }, (_, n) => localHoursOf(from + n * hourMs, calendar))
      .flat()
      .map((one) => [keyOf(one), one]),
  );
  const includes = (instant: number) => hours.has(keyOf(localTime(instant)));
  const whole = { from, to };
  while (includes(whole.from - 1)) whole.from -= minuteMs;
  while (includes(whole.to)) whole.to += minuteMs;
  return { whole, includes, kept: [...hours.values()].filter(({ date }) => isKept(date)) };
}

/**
 * Makes anew, from the raw items alone, what items of these hours are part of: the facts of the visits that were there
 * meanwhile, whose plays may be of any hour, and the counts of the plays that began in the local hours. Resolves to the days
 * of these. It costs as much as those hours, however much of the day has passed.
 */
export async function recomputeStretch(
  tx: Sql,
  place: Place,
  calendar: Calendar,
  stretch: Between,
): Promise<ReadonlySet<string>> {
  const { localTime, isKept } = calendar;
  const touched = (await findVisits(tx, place, stretch)).filter(({ start }) => isKept(localTime(start).date));
  const hours = localHours(stretch, calendar);
  const visits = touched.filter(({ left_out }) => !left_out);
  const plays = await findPlays(tx, place, {
    from: visits.reduce((earliest, { start }) => Math.min(earliest, start), hours.whole.from),
    to: visits.reduce((latest, { end }) => Math.max(latest, end), hours.whole.to),
  });
  const isCounted = ({ start }: { readonly start: number }) => hours.includes(start) && isKept(localTime(start).date);
  const ids = touched.map(({ event_id, start }) => ({ id: event_id, date: localTime(start).date }));
  const part = { visits: ids, hours: hours.kept };
  await replacePart(tx, place, part, factsOf({ visits, plays, isCounted }, localTime));
  return new Set([...part.visits, ...part.hours].map(({ date }) => date));
}
