import { openThread, type Thread } from '../thread.ts';
import type { HolidayMethods } from './holidays.thread.ts';

export type { Holiday } from './holidays.thread.ts';
export { holidayRegion } from './regions.ts';

type HolidayThread = Thread<HolidayMethods>;

export type { HolidayThread as Holidays };

const heapMb = 128;

export const openHolidays = (): HolidayThread =>
  openThread<HolidayMethods>(new URL('holidays.thread.ts', import.meta.url), ['holidayOn'], heapMb);
