import type { Member } from '@attribution/contracts';
import type { z } from 'zod';
import { hasBilling } from '../sessions/index.ts';
import type { MemberRow } from './member.store.ts';

export function viewMember(row: MemberRow): z.output<typeof Member> {
  return {
    id: row.user_id,
    email: row.email,
    full_name: row.full_name,
    email_verified: row.email_verified_at !== null,
    mfa_enabled: row.mfa_enabled_at !== null,
    role: row.role,
    group_scope: row.group_scope,
    groups: row.grants.map(({ group_id, role }) => ({ group_id, role })),
    services: row.services,
    billing: hasBilling(row),
    status: row.status,
    joined_at: row.joined_at.toISOString(),
  };
}
