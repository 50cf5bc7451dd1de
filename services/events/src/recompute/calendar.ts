import { type LocalTime, localTimeOf, startOfDay } from '../time/index.ts';
import { longestMs } from './raw.store.ts';

export const hourMs = 3_600_000;

/** The local days of a location. */
export interface Calendar {
  readonly timezone: string;
  readonly localTime: LocalTime;
  /** Whether all items of a day are still there. Days whose items have left in part keep the figures that they have. */
  readonly isKept: (date: string) => boolean;
}

/** `keptSince`: since when all items are there, in milliseconds since the epoch. */
export const calendarOf = (timezone: string, keptSince: number | undefined): Calendar => ({
  timezone,
  localTime: localTimeOf(timezone),
  isKept: (date) => startOfDay(date, timezone) - hourMs - longestMs >= (keptSince ?? Number.NEGATIVE_INFINITY),
});

/** The local hours of an hour of the universal time, which may be parts of two. */
export const localHoursOf = (hour: number, { localTime }: Calendar) =>
  [hour, hour + hourMs - 1].map((instant) => {
    const { date, hour } = localTime(instant);
    return { date, hour };
  });

/** The local days of hours: an hour of the universal time may be of two. */
export const daysOf = (hours: readonly number[], calendar: Calendar): Set<string> =>
  new Set(hours.flatMap((hour) => localHoursOf(hour, calendar).map(({ date }) => date)));
