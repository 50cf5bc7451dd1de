import { type Screen, screenCreated, screenDeleted, screenUpdated } from '@attribution/contracts';
import type { z } from 'zod';
import type { Kind, PlacedRow } from '../estate/index.ts';

type View = z.output<typeof Screen>;

export interface ScreenRow extends PlacedRow {
  readonly location_id: string;
  readonly zone_id: string;
  readonly name: string;
  readonly tags: string[];
  readonly width_px: number;
  readonly height_px: number;
  readonly orientation: View['orientation'];
  readonly accepted_formats: View['accepted_formats'];
  readonly audio: boolean;
}

export const screenKind: Kind<ScreenRow, View> = {
  name: 'screen',
  table: 'screens',
  columns: [
    'group_id',
    'location_id',
    'zone_id',
    'name',
    'tags',
    'width_px',
    'height_px',
    'orientation',
    'accepted_formats',
    'audio',
  ],
  events: { created: screenCreated, updated: screenUpdated, deleted: screenDeleted },
  view: (row) => ({
    id: row.id,
    location_id: row.location_id,
    zone_id: row.zone_id,
    name: row.name,
    external_id: row.external_id,
    tags: row.tags,
    width_px: row.width_px,
    height_px: row.height_px,
    orientation: row.orientation,
    accepted_formats: row.accepted_formats,
    audio: row.audio,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }),
};
