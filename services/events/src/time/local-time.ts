/**
 * Local dates and hours, always read off instants (milliseconds since the epoch), so that an hour that the clock repeats is
 * one hour of twice the length, and one that it skips does not exist.
 */

export interface LocalHour {
  /** `2026-10-25` */
  readonly date: string;
  /** 0 to 23 */
  readonly hour: number;
}

/** Reads the local time of an instant. */
export type LocalTime = (instant: number) => LocalHour;

interface Stretch extends LocalHour {
  readonly start: number;
  readonly end: number;
}

const hourMs = 3_600_000;

/** The stretch around an instant within which neither date nor hour changes. */
function stretchAround(instant: number, timeZone: string): Stretch {
  const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone);
  const passed = (local.minute * 60 + local.second) * 1000 + local.millisecond;
  // A transition at this very instant is the previous one of the next instant alone.
  const before = local.add({ milliseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds;
  const after = local.getTimeZoneTransition('next')?.epochMilliseconds;
  return {
    date: local.toPlainDate().toString(),
    hour: local.hour,
    start: Math.max(instant - passed, before ?? Number.NEGATIVE_INFINITY),
    end: Math.min(instant - passed + hourMs, after ?? Number.POSITIVE_INFINITY),
  };
}

/** The local time of a zone. Instants that follow each other closely cost next to nothing, so they should be in order. */
export function localTimeOf(timeZone: string): LocalTime {
  let last: Stretch | undefined;
  return (instant) => {
    if (!last || instant < last.start || instant >= last.end) last = stretchAround(instant, timeZone);
    return last;
  };
}

/** The first instant of a local day. */
export const startOfDay = (date: string, timeZone: string): number =>
  Temporal.PlainDate.from(date).toZonedDateTime(timeZone).epochMilliseconds;

/** The first instant after a local day. */
export const endOfDay = (date: string, timeZone: string): number =>
  Temporal.PlainDate.from(date).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;
