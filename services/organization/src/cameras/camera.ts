import { type Camera, cameraCreated, cameraDeleted, cameraUpdated } from '@attribution/contracts';
import type { z } from 'zod';
import type { Kind, PlacedRow } from '../estate/index.ts';

export interface CameraRow extends PlacedRow {
  readonly location_id: string;
  readonly zone_id: string;
  readonly device_id: string;
  readonly name: string;
}

export const cameraKind: Kind<CameraRow, z.output<typeof Camera>> = {
  name: 'camera',
  table: 'cameras',
  columns: ['group_id', 'location_id', 'zone_id', 'device_id', 'name'],
  events: { created: cameraCreated, updated: cameraUpdated, deleted: cameraDeleted },
  view: ({ id, location_id, zone_id, device_id, name, external_id, created_at, updated_at }) => ({
    id,
    location_id,
    zone_id,
    device_id,
    name,
    external_id,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }),
};
