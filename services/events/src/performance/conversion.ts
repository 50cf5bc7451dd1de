import { readDuration } from '@attribution/contracts';

/** When somebody has converted. */
export interface Conversion {
  /** `return`: by another visit. `zone`: by coming into a target zone. */
  readonly kind: 'return' | 'zone';
  readonly zoneIds: readonly string[];
  /** How long after it a conversion counts, as it was asked for. */
  readonly window: string;
  readonly windowMs: number;
}

export const conversionOf = (query: {
  readonly window: string;
  readonly target_zone_ids?: readonly string[] | undefined;
}): Conversion => ({
  kind: query.target_zone_ids ? 'zone' : 'return',
  zoneIds: query.target_zone_ids ?? [],
  window: query.window,
  windowMs: readDuration(query.window) ?? 0,
});
