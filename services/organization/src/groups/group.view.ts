import type { Group } from '@attribution/contracts';
import type { z } from 'zod';

interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function viewGroup({ id, name, description, created_at, updated_at }: GroupRow): z.output<typeof Group> {
  return { id, name, description, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}
