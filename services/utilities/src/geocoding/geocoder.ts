import type { Geocoding, ReverseGeocoding } from '@attribution/contracts';
import type { z } from 'zod';
import type { Point } from '../earth.ts';
import type { Answered } from '../upstream/index.ts';

export type FoundPlace = z.output<typeof Geocoding>['entries'][number];
export type NearPlace = NonNullable<z.output<typeof ReverseGeocoding>['place']>;

export interface Search {
  readonly query: string;
  readonly country?: string | undefined;
  readonly limit: number;
}

/** Finds places by name, and by where they are. */
export interface Geocoder {
  /** The best first. */
  find(search: Search): Promise<Answered<FoundPlace[]>>;
  /** null: nothing is known to be there. */
  reverse(point: Point): Promise<Answered<NearPlace | null>>;
}
