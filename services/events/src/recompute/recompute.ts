import { eventsRecomputed } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import type { Job } from '@attribution/service';
import { shareBlacklist } from '../blacklist/index.ts';
import { findKeptSince } from '../partitions/index.ts';
import type { EventsDatabase } from '../store.ts';
import { endOfDay, startOfDay } from '../time/index.ts';
import { type Calendar, calendarOf, daysOf, hourMs } from './calendar.ts';
import { factsOf } from './day.ts';
import { replaceDay } from './fact.store.ts';
import { claimLocation, findBehind, findTimeZone, type Mark, takeMarks } from './mark.store.ts';
import { recomputeStretch, stretchesOf } from './part.ts';
import { findPlays, findStillThere, findVisits, type Place } from './raw.store.ts';

interface Dependencies {
  readonly database: EventsDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Locations of a run, at most. */
const mostLocations = 10_000;
/** Locations that a process recomputes at once: while one waits for the database, another is counted. */
const atOnce = 4;
/** Hours of a location whose items are looked at by themselves, at most: whole days cost less than many parts of them. */
const mostHours = 6;

/** Days with marks, and those whose visits stayed into one of them: what they met there may have changed. */
async function findDays(tx: Sql, place: Place, calendar: Calendar, hours: readonly number[]): Promise<string[]> {
  const marked = daysOf(hours, calendar);
  const all = new Set(marked);
  for (const date of marked)
    for (const day of daysOf(await findStillThere(tx, place, startOfDay(date, calendar.timezone)), calendar))
      all.add(day);
  return [...all].filter(calendar.isKept).toSorted();
}

/** Makes the facts of a day anew, from the raw items alone. */
async function recomputeDay(tx: Sql, place: Place, date: string, { timezone, localTime }: Calendar): Promise<void> {
  // Where the clock was put back across midnight, a day is not one stretch: what is of other days is left out later.
  const day = { from: startOfDay(date, timezone) - hourMs, to: endOfDay(date, timezone) + hourMs };
  const isOwn = ({ start }: { readonly start: number }) => localTime(start).date === date;
  const visits = (await findVisits(tx, place, day)).filter((visit) => isOwn(visit) && !visit.left_out);
  const to = visits.reduce((latest, { end }) => Math.max(latest, end), day.to);
  const plays = await findPlays(tx, place, { from: day.from, to });
  await replaceDay(tx, { ...place, date }, factsOf({ visits, plays, isCounted: isOwn }, localTime));
}

/** Recomputes what the marks of a location touch. Resolves to the days whose figures may have changed. */
async function recomputeMarked(
  tx: Sql,
  place: Place,
  calendar: Calendar,
  marks: readonly Mark[],
): Promise<readonly string[]> {
  const hours = marks.map(({ hour }) => hour);
  if (marks.length > mostHours || marks.some(({ whole }) => whole)) {
    const days = await findDays(tx, place, calendar, hours);
    for (const date of days) await recomputeDay(tx, place, date, calendar);
    return days;
  }
  const days = new Set<string>();
  for (const stretch of stretchesOf(hours))
    for (const date of await recomputeStretch(tx, place, calendar, stretch)) days.add(date);
  return [...days].toSorted();
}

/**
 * Recomputes what is behind of a location, in one transaction: no reader sees half of a day, and no mark is lost. Nothing
 * happens where another worker has the location, or while the blacklist changes: a later run finds the marks. Resolves
 * whether marks are left of those that there were.
 */
async function recomputeLocation(tx: Sql, { outbox, clock }: Dependencies, place: Place): Promise<boolean> {
  if (!(await claimLocation(tx, place)) || !(await shareBlacklist(tx, place.account_id))) return false;
  const { marks, more } = await takeMarks(tx, place);
  const timezone = await findTimeZone(tx, place);
  if (marks.length === 0) return false;
  if (timezone === undefined) throw new Error(`${place.location_id} is not known any more`); // The marks stay.
  const days = await recomputeMarked(tx, place, calendarOf(timezone, await findKeptSince(tx)), marks);
  const context = { accountId: place.account_id, occurredAt: clock.now() };
  await outbox.append(tx, newEvent(eventsRecomputed, { ...place, dates: [...days] }, context));
  return more;
}

/** Recomputes each location with marks once, several at once. Resolves whether marks are left. A failure costs no other location its turn. */
async function recomputeAll(dependencies: Dependencies, stopping: AbortSignal): Promise<boolean> {
  const { database } = dependencies;
  const places = (await findBehind(database.sql, mostLocations)).values();
  const failures: unknown[] = [];
  let more = false;
  async function takeTurns(): Promise<void> {
    for (const place of places) {
      if (stopping.aborted) return;
      try {
        if (await database.sqlTransaction((tx) => recomputeLocation(tx, dependencies, place))) more = true;
      } catch (error) {
        failures.push(error);
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, takeTurns));
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} locations could not be recomputed`);
  return more;
}

/** The job that brings the figures up to date, location by location, whoever waits longest first. Workers share it. */
export const recomputeJob = (dependencies: Dependencies): Job => ({
  name: 'recompute',
  every: 1_000,
  shared: true,
  async run(stopping) {
    while (!stopping.aborted && (await recomputeAll(dependencies, stopping)));
  },
});
