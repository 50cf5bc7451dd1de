import { administersGroup, type Principal, serviceAccess } from '@attribution/auth';
import { Problem, serviceNames } from '@attribution/contracts';
import type { ServiceMap } from '../sessions/index.ts';

interface Target {
  readonly user_id: string;
  readonly role: 'owner' | 'admin' | 'member';
}

/** Which members a caller may change (decision 34). Throws `forbidden`. */
export function requireTouchable(caller: Principal, target: Target): void {
  if (target.role === 'owner' && caller.id !== target.user_id)
    throw new Problem('forbidden', 'An admin does not touch the owner.');
}

interface Rights {
  readonly role: 'owner' | 'admin' | 'member';
  readonly group_scope: 'all' | 'selected';
  readonly groups: readonly unknown[];
}

/** Owners and admins have the scope `all`; the scope `selected` needs a list of groups. Throws `validation-error`. */
export function requireRights({ role, group_scope, groups }: Rights): void {
  if (role !== 'member' && group_scope === 'selected')
    throw new Problem('validation-error', 'body.group_scope: must be all for an owner or admin.');
  if (group_scope === 'all' && groups.length > 0)
    throw new Problem('validation-error', 'body.groups: must be empty when group_scope is all.');
}

interface Given {
  readonly group_scope?: 'all' | 'selected' | undefined;
  readonly groups?: readonly { readonly group_id: string }[] | undefined;
  /** null means every service. */
  readonly services?: ServiceMap | null | undefined;
  readonly billing?: boolean | undefined;
}

/** A caller cannot give more rights than the caller has. Throws `forbidden`. */
export function requireGivable(caller: Principal, { group_scope, groups = [], services, billing }: Given): void {
  if (group_scope === 'all' && caller.groups !== null)
    throw new Problem('forbidden', 'body.group_scope: all is more than your own.');
  const foreign = groups.find(({ group_id }) => !administersGroup(caller, group_id));
  if (foreign) throw new Problem('forbidden', `body.groups: you do not administer ${foreign.group_id}.`);
  if (billing && serviceAccess(caller, 'billing') !== 'w')
    throw new Problem('forbidden', 'body.billing: billing access is more than your own.');
  if (services === undefined) return;
  for (const name of serviceNames) {
    const given = services === null ? 'w' : (services[name] ?? services['*']);
    const own = serviceAccess(caller, name);
    if (given !== undefined && own !== 'w' && given !== own)
      throw new Problem('forbidden', `body.services: ${given} in ${name} is more than your own.`);
  }
}
