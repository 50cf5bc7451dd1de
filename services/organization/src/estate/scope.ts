import { type Principal, visibleGroupIds } from '@attribution/auth';

/** What a query may return: rows of one account, and of these groups. */
export interface Scope {
  readonly accountId: string;
  /** null for all groups of the account. */
  readonly visible: readonly string[] | null;
}

/** What the caller sees of the estate (spec §5.5). Every list and every get is limited to it. */
export const scopeOf = (caller: Principal): Scope => ({
  accountId: caller.accountId,
  visible: visibleGroupIds(caller),
});

/** Whether the group is within the scope. */
export const sees = ({ visible }: Scope, groupId: string) => visible === null || visible.includes(groupId);

/** The requested groups that are within the scope; null for all groups of the account. */
export function groupsWithin({ visible }: Scope, requested: readonly string[] | undefined): readonly string[] | null {
  if (!requested) return visible && [...new Set(visible)];
  return [...new Set(requested)].filter((id) => visible === null || visible.includes(id));
}
