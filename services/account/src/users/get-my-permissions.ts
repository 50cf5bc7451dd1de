import { getMyPermissions, type Permissions, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import { expandServices, findMembership, hasBilling, type Membership } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';

/** From the database, not from the token: a change shows at once (spec §4.2). */
export const getMyPermissionsEndpoint = (database: AccountDatabase) =>
  implement(getMyPermissions, async ({ caller }) => {
    const membership = await findMembership(database.prisma, caller.id, caller.accountId);
    if (membership?.status !== 'active')
      throw new Problem('unauthorized', 'You are not a member of this account any more.');
    return permissionsOf(membership);
  });

function permissionsOf(membership: Membership): z.output<typeof Permissions> {
  const administers = membership.role !== 'member';
  const narrowed = membership.group_scope === 'selected';
  const services = expandServices(membership);
  return {
    role: membership.role,
    group_scope: membership.group_scope,
    groups: narrowed ? membership.grants.map(({ group_id, role }) => ({ group_id, role })) : [],
    services,
    can: {
      invite_users: administers,
      manage_api_keys: administers,
      manage_billing: hasBilling(membership) && services.billing === 'w',
      manage_groups: administers && services.organization === 'w',
      set_up_estate:
        services.organization === 'w' &&
        (administers || (narrowed && membership.grants.some((grant) => grant.role === 'a'))),
      edit_campaigns: services.campaign === 'w',
      publish_campaigns: services.campaign === 'w',
    },
  };
}
