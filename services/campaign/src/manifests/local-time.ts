import { LRUCache } from 'lru-cache';

/**
 * Local days and hours, always read off instants (milliseconds since the epoch): an hour that the clock repeats or skips,
 * and a day without a midnight, are then what they are.
 */

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** How far ahead of now a manifest reaches, before the rest of that day. */
const aheadMs = 2 * dayMs;

const at = (instant: number, timeZone: string) =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone);

const startOf = (date: Temporal.PlainDate, timeZone: string) => date.toZonedDateTime(timeZone).epochMilliseconds;

/** The first instant of a local day (`2027-03-28`). */
export const startOfDay = (date: string, timeZone: string): number => startOf(Temporal.PlainDate.from(date), timeZone);

/** The first instant after a local day. */
export const endOfDay = (date: string, timeZone: string): number =>
  startOf(Temporal.PlainDate.from(date).add({ days: 1 }), timeZone);

interface CoveredTime {
  readonly from: number;
  readonly to: number;
  /** Until this instant, a manifest covers the same time. */
  readonly until: number;
}

/**
 * The time that a manifest covers: from the start of the local day of now, to the first start of one that is 48 h ahead or
 * more. It moves with the local day, and after an hour or a millisecond of it once more where `to` is then exactly 48 h ahead.
 */
export function coveredTime(now: number, timeZone: string): CoveredTime {
  const [today, last] = [at(now, timeZone), at(now + aheadMs, timeZone).startOfDay()];
  const isStart = last.epochMilliseconds === now + aheadMs;
  const to = isStart ? last.epochMilliseconds : startOf(last.toPlainDate().add({ days: 1 }), timeZone);
  const tomorrow = startOf(today.toPlainDate().add({ days: 1 }), timeZone);
  return { from: today.startOfDay().epochMilliseconds, to, until: Math.min(tomorrow, to - aheadMs + 1) };
}

/** A stretch of time within which neither the local date nor the hour changes. */
export interface LocalHour {
  readonly start: number;
  /** `2027-03-28` */
  readonly date: string;
  /** 0 to 23 */
  readonly hour: number;
}

/** Of the zones that there are, those of a day or two: at midnight, the devices of a zone share their hours. */
const known = new LRUCache<string, readonly LocalHour[]>({ max: 1000 });

/** From the start of a local day to that of another: each local hour between, and the one that begins at `to`. */
export function localHours(from: number, to: number, timeZone: string): readonly LocalHour[] {
  const key = `${from} ${to} ${timeZone}`;
  const hours = known.get(key) ?? readHours(from, to, timeZone);
  known.set(key, hours);
  return hours;
}

function readHours(from: number, to: number, timeZone: string): readonly LocalHour[] {
  const hours: LocalHour[] = [];
  for (let start = from; start <= to; ) {
    const local = at(start, timeZone);
    hours.push({ start, date: local.toPlainDate().toString(), hour: local.hour });
    const passed = (local.minute * 60 + local.second) * 1000 + local.millisecond;
    const shift = local.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    start = Math.min(start + hourMs - passed, shift);
  }
  return hours;
}
