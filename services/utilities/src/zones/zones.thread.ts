import { find, setCache } from 'geo-tz/all';
import { LRUCache } from 'lru-cache';
import type { Point } from '../earth.ts';
import { serve } from '../serve.ts';
import { compacted } from './compacted.ts';

export type ZoneMethods = {
  /** The time zones of a point, several where countries disagree about whose it is. Never empty. */
  zonesAt(point: Point): string[];
};

/** The corners of the pieces of the map that were read last, of 72 bytes each. All 21,525 pieces would take 1.9 GB. */
const keptCorners = 400_000;
const pieces = new LRUCache<string, object>({ maxSize: keptCorners });
const store = {
  get: (key: string) => pieces.get(key),
  set(key: string, piece: never) {
    pieces.set(key, piece, { size: compacted(piece) });
  },
};
setCache({ store });

serve({ zonesAt: ({ latitude, longitude }) => find(latitude, longitude) } satisfies ZoneMethods);
