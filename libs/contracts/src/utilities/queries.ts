import { z } from 'zod';
import { Timestamp } from '../wire/formats.ts';
import type { Refinement } from '../wire/refined-by.ts';

/** The query parameters of look-ups. */

const degrees = (most: number, example: number) =>
  z
    .string()
    .regex(/^-?\d{1,3}(\.\d{1,8})?$/, 'must be decimal degrees, with at most 8 places')
    .transform(Number)
    .pipe(z.number().min(-most, `must be at least -${most}`).max(most, `must be at most ${most}`))
    .meta({
      type: 'number',
      description: 'Degrees, WGS 84, with at most 8 places',
      minimum: -most,
      maximum: most,
      example,
    });

/** A point, which is always given whole. */
export const point = { latitude: degrees(90, 47.3686), longitude: degrees(180, 8.5392) };

/** A number from `least` to `most`; an `integer`, unless it may have decimals. */
export function numberFrom(least: number, most: number, type: 'integer' | 'number' = 'integer') {
  const range = `must be ${type === 'integer' ? 'a whole number' : 'a number'} from ${least} to ${most}`;
  const digits = type === 'integer' ? /^\d{1,6}$/ : /^\d{1,6}(\.\d{1,20})?$/;
  return z
    .string()
    .regex(digits, range)
    .transform(Number)
    .pipe(z.number().min(least, range).max(most, range))
    .meta({ type, minimum: least, maximum: most });
}

/** What people type into a search box. */
export const SearchText = z
  .string()
  .max(500, 'must have at most 500 characters')
  .refine((text) => text.trim() !== '', 'must not be empty')
  .meta({ description: 'The name of a place, or an address', minLength: 1, example: 'Zürich' });

/** ISO 3166-1 alpha-2, in any letter case. */
export const CountryCode = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be a country of two letters (ISO 3166-1 alpha-2)')
  .transform((code) => code.toUpperCase())
  .meta({ description: 'ISO 3166-1 alpha-2', example: 'CH' });

export const At = Timestamp.optional().meta({ description: 'The time in question; without it, now' });

interface Given {
  readonly [name: string]: unknown;
}

/** For `refinedBy`: one coordinate is never given without the other. */
function wholePoint({ latitude, longitude }: Given, context: Refinement): void {
  if ((latitude === undefined) === (longitude === undefined)) return;
  const [missing, other] = latitude === undefined ? ['latitude', 'longitude'] : ['longitude', 'latitude'];
  context.addIssue({ code: 'custom', path: [missing], message: `must be given with ${other}` });
}

/** For `refinedBy`: a location, or a point, and a country only with a point. */
export function placeOrPoint(given: Given, context: Refinement): void {
  wholePoint(given, context);
  const { location_id, latitude, longitude, country } = given;
  if (context.issues.length > 0) return;
  const hasPoint = latitude !== undefined && longitude !== undefined;
  const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (location_id === undefined && !hasPoint) fault('location_id', 'must be given, or latitude and longitude');
  else if (location_id !== undefined && hasPoint) fault('location_id', 'must not be given with latitude and longitude');
  else if (country !== undefined && !hasPoint) fault('country', 'must be given with latitude and longitude');
}

/** For `refinedBy`: either a radius, or minutes of a mode of travel. */
export function radiusOrTravel({ radius_m, minutes, mode }: Given, context: Refinement): void {
  const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  const travels = minutes !== undefined || mode !== undefined;
  if (radius_m !== undefined && travels) fault('radius_m', 'must not be given with minutes and mode');
  else if (radius_m === undefined && !travels) fault('radius_m', 'must be given, or minutes and mode');
  else if (travels && minutes === undefined) fault('minutes', 'must be given with mode');
  else if (travels && mode === undefined) fault('mode', 'must be given with minutes');
}
