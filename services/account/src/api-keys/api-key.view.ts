import type { ApiKey } from '@attribution/contracts';
import type { z } from 'zod';
import type { ApiKeyRow } from './api-key.store.ts';

const iso = (date: Date | null) => date?.toISOString() ?? null;

export function viewApiKey(row: ApiKeyRow): z.output<typeof ApiKey> {
  return {
    id: row.id,
    name: row.name,
    access_key_id: row.access_key_id,
    role: row.role,
    type: row.type,
    readonly: row.readonly,
    group_scope: row.group_scope,
    groups: row.grants.map(({ group_id, role }) => ({ group_id, role })),
    created_by: row.created_by,
    expires_at: iso(row.expires_at),
    last_used_at: iso(row.last_used_at),
    rotated_at: iso(row.rotated_at),
    revoked_at: iso(row.revoked_at),
    created_at: row.created_at.toISOString(),
  };
}
