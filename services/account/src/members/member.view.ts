import { type Principal, seesGroup } from '@attribution/auth';
import type { Member, SeenMember } from '@attribution/contracts';
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

/** What the caller may know of the member, whom it sees. */
export function viewMemberFor(caller: Principal, row: MemberRow): z.output<typeof SeenMember> {
  const member = viewMember(row);
  if (caller.role === 'owner' || caller.role === 'admin' || row.user_id === caller.id) return member;
  const { email: _, email_verified: __, mfa_enabled: ___, services: ____, billing: _____, ...seen } = member;
  return { ...seen, groups: member.groups.filter(({ group_id }) => seesGroup(caller, group_id)) };
}
