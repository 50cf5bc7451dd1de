import type { Weather } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import type { z } from 'zod';
import type { Point } from '../earth.ts';
import { toldNow } from '../told.ts';
import type { Answered } from '../upstream/index.ts';

export type WeatherView = z.output<typeof Weather>['weather'];

/** Knows the weather at a time from 90 days ago to 7 days ahead. */
export interface WeatherSource {
  readonly name: string;
  at(point: Point, at: Date): Promise<Answered<WeatherView>>;
}

/** Nobody was asked, so nobody knows. */
export const createNoWeather = (clock: Clock): WeatherSource => ({
  name: 'none',
  at: async () => ({ answer: null, ...toldNow(clock, 'none') }),
});

const dayMs = 24 * 60 * 60 * 1000;
const range = { pastMs: 90 * dayMs, futureMs: 7 * dayMs };

export function isInRange(at: Date, now: Date): boolean {
  const ahead = at.getTime() - now.getTime();
  return ahead >= -range.pastMs && ahead <= range.futureMs;
}
