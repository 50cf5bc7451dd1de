import type { Permissions } from '@attribution/contracts';
import type { z } from 'zod';
import { expandServices, hasBilling, type Membership } from '../sessions/index.ts';

type GroupAnswers = NonNullable<z.output<typeof Permissions>['can']['in_groups']>[string];

/**
 * Predicts what the endpoints will permit, so that a form need not try: who is an administrator, and who may write in
 * the service of an endpoint.
 */
export function permissionsOf(membership: Membership): z.output<typeof Permissions> {
  const { role, group_scope, grants } = membership;
  const services = expandServices(membership);
  const narrowed = group_scope === 'selected';
  const administers = role !== 'member';
  const manages = administers && services.account === 'w';
  const inGroup = (grant: 'a' | 'm'): GroupAnswers => ({
    set_up_estate: services.organization === 'w' && grant === 'a',
    edit_campaigns: services.campaign === 'w',
    publish_campaigns: services.campaign === 'w',
  });
  const everywhere = inGroup(administers ? 'a' : 'm');
  const groups = narrowed ? grants.map((grant) => inGroup(grant.role)) : [everywhere];

  return {
    role,
    group_scope,
    groups: narrowed ? grants.map(({ group_id, role }) => ({ group_id, role })) : [],
    services,
    can: {
      invite_users: manages,
      manage_api_keys: manages,
      manage_billing: hasBilling(membership) && services.billing === 'w',
      manage_groups: administers && services.organization === 'w',
      set_up_estate: groups.some((group) => group.set_up_estate),
      // Even a member without groups can edit their own campaigns.
      edit_campaigns: everywhere.edit_campaigns,
      publish_campaigns: groups.some((group) => group.publish_campaigns),
      ...(narrowed && { in_groups: Object.fromEntries(grants.map(({ group_id, role }) => [group_id, inGroup(role)])) }),
    },
  };
}
