import { z } from 'zod';
import type { Refinement } from '../wire/refined-by.ts';

/** Degrees, WGS 84; null: unknown. */
export const coordinates = {
  latitude: z.number().min(-90).max(90).nullable().meta({ description: 'Degrees, WGS 84', example: 47.3686 }),
  longitude: z.number().min(-180).max(180).nullable().meta({ description: 'Degrees, WGS 84', example: 8.5392 }),
};

interface Place {
  readonly latitude?: number | null | undefined;
  readonly longitude?: number | null | undefined;
}

/**
 * For `refinedBy`: both are numbers, both are null, or both are left out; the issue is at the missing one. So a caller
 * who does not know the current values cannot leave a place with one coordinate.
 */
export function bothOrNeither({ latitude, longitude }: Place, context: Refinement): void {
  const missing = given(longitude) - given(latitude);
  if (missing === 0 || context.issues.length > 0) return;
  const [path, other] = missing < 0 ? ['longitude', 'latitude'] : ['latitude', 'longitude'];
  context.addIssue({ code: 'custom', path: [path], message: `must be given with ${other}` });
}

/** Whether the coordinate is omitted, null or given. */
const given = (degrees: number | null | undefined) => (degrees === undefined ? 0 : degrees === null ? 1 : 2);

/** For `refinedBy`: a place has a time zone, or coordinates from which it can be found out. */
export function zoneOrPoint(place: Place & { readonly timezone?: string | undefined }, context: Refinement): void {
  if (place.timezone !== undefined || context.issues.length > 0 || given(place.latitude) === 2) return;
  context.addIssue({ code: 'custom', path: ['timezone'], message: 'is required' });
}
