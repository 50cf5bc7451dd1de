import type { Group } from '@attribution/contracts';
import type { z } from 'zod';
import type { GroupRow } from './group.store.ts';

export function viewGroup({ id, name, description, created_at, updated_at }: GroupRow): z.output<typeof Group> {
  return { id, name, description, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}
