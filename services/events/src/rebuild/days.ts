import type { DirtyHour } from '../dirty/index.ts';
import { localTimeOf, nextPeriod, startOfDay } from '../time/index.ts';

/** Local days, both included. */
interface Days {
  readonly from: string;
  readonly to: string;
}

/** An item of a location began then, in milliseconds since the epoch. */
export interface Begun {
  readonly location_id: string;
  readonly at: number;
}

/**
 * Instants between which local days are, in order, and one day more: where the clock is put back across midnight, a part of
 * a day comes after the next one has begun.
 */
export function boundsOf({ from, to }: Days, timezone: string): number[] {
  const bounds = [startOfDay(from, timezone)];
  for (let day = from; day <= nextPeriod(to, 'day'); day = nextPeriod(day, 'day'))
    bounds.push(startOfDay(nextPeriod(day, 'day'), timezone));
  return bounds;
}

const hourMs = 3_600_000;

/** For each local day of a location on which something began, the hour of one such item. */
export function hourOfEachDay(items: readonly Begun[], { from, to }: Days, timezone: string): DirtyHour[] {
  const localTime = localTimeOf(timezone);
  const hours = new Map<string, DirtyHour>();
  for (const { location_id, at } of items) {
    const { date } = localTime(at);
    if (from <= date && date <= to) hours.set(`${location_id} ${date}`, { location_id, hour: at - (at % hourMs) });
  }
  return [...hours.values()];
}
