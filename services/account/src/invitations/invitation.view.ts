import type { Invitation } from '@attribution/contracts';
import type { z } from 'zod';
import type { InvitationRow } from './invitation.store.ts';

export function viewInvitation(row: InvitationRow, now: Date): z.output<typeof Invitation> {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    group_scope: row.group_scope,
    groups: row.groups.map(({ group_id, role }) => ({ group_id, role })),
    services: row.services,
    billing: row.role === 'admin' || row.billing,
    status: row.accepted_at ? 'accepted' : row.expires_at <= now ? 'expired' : 'pending',
    invited_by: row.invited_by,
    expires_at: row.expires_at.toISOString(),
    accepted_at: row.accepted_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}
