import type { Point } from '../earth.ts';
import type { Thread } from '../thread.ts';
import type { ZoneMethods } from './zones.thread.ts';

export interface ZonesOfPoint {
  readonly timezone: string;
  /** Other zones, where countries disagree about whose the point is. */
  readonly alternatives: readonly string[];
}

const isAtSea = (zone: string) => zone.startsWith('Etc/');

/** At sea the zones are of 15 degrees each, which meet at the poles. */
function zoneAtSea(longitude: number): string {
  const hours = Math.round(longitude / 15);
  // The signs of these names are those of POSIX: west is positive.
  return hours === 0 ? 'Etc/GMT' : `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
}

export async function zonesOf({ zones }: { readonly zones: Thread<ZoneMethods> }, point: Point): Promise<ZonesOfPoint> {
  const [timezone, ...alternatives] = await zones.zonesAt(point);
  if (timezone === undefined || isAtSea(timezone)) return { timezone: zoneAtSea(point.longitude), alternatives: [] };
  return { timezone, alternatives: alternatives.filter((zone) => zone !== timezone) };
}

/** Minutes that local time is ahead of UTC. Before standard times there were seconds, too, which are rounded. */
export const offsetMinutes = (at: Date, timezone: string): number =>
  Math.round(localTime(at, timezone).offsetNanoseconds / 60e9) + 0;

export const localTime = (at: Date, timezone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone);
