import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';

interface Target {
  readonly user_id: string;
  readonly role: 'owner' | 'admin' | 'member';
}

/** Who may touch whom (decision 34). Throws `forbidden`. */
export function requireTouchable(caller: Principal, target: Target): void {
  if (target.role === 'owner' && caller.role !== 'owner')
    throw new Problem('forbidden', 'An admin does not touch the owner.');
}

interface Rights {
  readonly role: 'owner' | 'admin' | 'member';
  readonly group_scope: 'all' | 'selected';
  readonly groups: readonly unknown[];
}

/** Owners and admins see every group; groups are listed where they are selected. Throws `validation-error`. */
export function requireRights({ role, group_scope, groups }: Rights): void {
  if (role !== 'member' && group_scope === 'selected')
    throw new Problem('validation-error', 'body.group_scope: must be all for an owner or admin.');
  if (group_scope === 'all' && groups.length > 0)
    throw new Problem('validation-error', 'body.groups: must be empty when group_scope is all.');
}
