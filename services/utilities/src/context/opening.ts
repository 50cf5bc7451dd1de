import { type Location, weekdays } from '@attribution/contracts';
import type { z } from 'zod';

type Week = NonNullable<z.output<typeof Location>['opening_hours']>;

/** A local time of a week. */
export interface LocalTime {
  /** From 0, Monday. */
  readonly day: number;
  /** Since midnight. */
  readonly minute: number;
}

const minutesOf = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

/** Whether it is open: from the minute in which it opens up to, and not at, the one in which it closes. */
export function isOpenAt(week: Week, { day, minute }: LocalTime): boolean {
  const spansOf = (index: number) => week[weekdays[index] ?? 'mon'] ?? [];
  const today = spansOf(day).some(({ opens, closes }) => {
    const isLonger = closes <= opens; // It closes on the next day.
    return minutesOf(opens) <= minute && (isLonger || minute < minutesOf(closes));
  });
  const yesterday = spansOf((day + 6) % 7).some(({ opens, closes }) => closes <= opens && minute < minutesOf(closes));
  return today || yesterday;
}
