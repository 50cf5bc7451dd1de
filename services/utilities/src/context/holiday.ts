import type { Point } from '../earth.ts';
import { type Holiday, holidayRegion } from '../holidays/index.ts';
import type { Threads } from '../threads.ts';

/** How far the nearest populated place may be for a point to be in its country. */
const withinKm = 100;

interface Day {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly country: string | undefined;
  readonly point: Point | null;
}

/** The holiday of a day. The country, unless it is given, and the region are those of the nearest populated place. */
export async function findHoliday(
  { places, holidays }: Pick<Threads, 'places' | 'holidays'>,
  { date, country, point }: Day,
): Promise<Holiday | null> {
  const nearest = point && (await places.nearest(point, withinKm))?.place;
  const inCountry = country ?? nearest?.country;
  if (inCountry === undefined) return null;
  const region = nearest?.country === inCountry ? holidayRegion(inCountry, nearest.admin1_code) : undefined;
  return holidays.holidayOn(date, inCountry, region);
}
