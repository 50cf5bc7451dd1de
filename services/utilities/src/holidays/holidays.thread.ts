import Holidays, { type HolidaysTypes } from 'date-holidays';
import { LRUCache } from 'lru-cache';
import { serve } from '../serve.ts';

/** The types of holidays, from those that most people notice to those that the fewest do. */
const types = ['public', 'bank', 'school', 'optional', 'observance'] as const;

export interface Holiday {
  readonly name: string;
  readonly type: (typeof types)[number];
}

export type HolidayMethods = {
  /** The holiday of a calendar date (`YYYY-MM-DD`) in a country or in one of its regions, or null. */
  holidayOn(date: string, country: string, region?: string): Holiday | null;
};

const dayMs = 24 * 60 * 60 * 1000;
/** By year and region: an account has locations in a few. */
const years = new LRUCache<string, ReadonlyMap<string, Holiday>>({ max: 500 });

serve({
  holidayOn(date, country, region) {
    const year = Number(date.slice(0, 4));
    const key = `${country} ${region} ${year}`;
    const known = years.get(key) ?? holidaysOf(year, country, region);
    years.set(key, known);
    return known.get(date) ?? null;
  },
} satisfies HolidayMethods);

/** The holidays of a year by date, of each date the one of the first type. */
function holidaysOf(year: number, country: string, region: string | undefined): ReadonlyMap<string, Holiday> {
  const byDate = new Map<string, Holiday>();
  const all = new Holidays();
  if (!Object.hasOwn(all.getCountries(), country)) return byDate;
  if (region !== undefined && Object.hasOwn(all.getStates(country) ?? {}, region)) all.init(country, region);
  else all.init(country);
  all.setLanguages('en');
  const found = all.getHolidays(year).filter(({ type }) => (types as readonly string[]).includes(type));
  for (const holiday of found.sort((a, b) => rankOf(a) - rankOf(b)))
    for (const date of datesOf(holiday)) {
      const { name, type } = holiday;
      if (!byDate.has(date)) byDate.set(date, { name, type: type as Holiday['type'] });
    }
  return byDate;
}

const rankOf = ({ type }: HolidaysTypes.Holiday) => (types as readonly string[]).indexOf(type);

/** `date` is local, and begins with the day; some holidays last for several. */
function datesOf({ date, start, end }: HolidaysTypes.Holiday): string[] {
  const first = Date.parse(date.slice(0, 10));
  const days = Math.max(1, Math.round((end.getTime() - start.getTime()) / dayMs));
  return Array.from({ length: days }, (_, day) => new Date(first + day * dayMs).toISOString().slice(0, 10));
}
