/** A time that is played through. Milliseconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Zones, and when their clocks are changed: an hour on, an hour on, and half an hour back. */
export const changes = [
  { timezone: 'America/New_York', at: Date.parse('2027-03-14T07:00:00Z') },
  { timezone: 'Europe/Zurich', at: Date.parse('2027-03-28T01:00:00Z') },
  { timezone: 'Australia/Lord_Howe', at: Date.parse('2027-04-03T15:00:00Z') },
] as const;

const dayMs = 86_400_000;

/** So many days from half a day before each of the changes on, at most until the next begins. Between two of them time leaps. */
export const spansOf = (days: number): readonly Span[] =>
  changes.map(({ at }, index) => {
    const next = changes[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    const from = at - dayMs / 2;
    return { from, to: Math.min(from + days * dayMs, next - dayMs / 2) };
  });
