/** A month of the universal time, as part of the name of a partition: `2026_11`. Names sort as the months do. */
export type Month = string;

const yearMonthOf = (instant: number) =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO('UTC').toPlainDate().toPlainYearMonth();

/** The month of an instant, in milliseconds since the epoch. */
export const monthOf = (instant: number): Month => yearMonthOf(instant).toString().replace('-', '_');

/** The first instant of a month, and the first after it, in milliseconds since the epoch. */
export function boundsOf(month: Month): { readonly from: number; readonly to: number } {
  const first = Temporal.PlainYearMonth.from(month.replace('_', '-')).toPlainDate({ day: 1 });
  const instantOf = (date: Temporal.PlainDate) => date.toZonedDateTime('UTC').epochMilliseconds;
  return { from: instantOf(first), to: instantOf(first.add({ months: 1 })) };
}

/** The months from so many before the one of an instant to so many after it. */
export function monthsAround(instant: number, before: number, after: number): Month[] {
  const month = yearMonthOf(instant);
  return Array.from({ length: before + 1 + after }, (_, n) =>
    month
      .add({ months: n - before })
      .toString()
      .replace('-', '_'),
  );
}

/** The least UUIDv7 of an instant or later: its first 48 bits are the milliseconds (RFC 9562, 5.7). */
export function firstIdOf(instant: number): string {
  const hex = instant.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
