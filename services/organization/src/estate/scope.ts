import { type Principal, visibleGroupIds } from '@attribution/auth';

/** What a query may return: of one account, and of these groups. */
export interface Scope {
  readonly accountId: string;
  /** null: all of the account. */
  readonly visible: readonly string[] | null;
}

/** What the caller sees of the estate (spec §5.5). Every list and every get takes it. */
export const scopeOf = (caller: Principal): Scope => ({
  accountId: caller.accountId,
  visible: visibleGroupIds(caller),
});

/** Whether what is in the group is within the scope. */
export const sees = ({ visible }: Scope, groupId: string) => visible === null || visible.includes(groupId);

/** The groups that are both within the scope and asked for; null: all of the account. */
export function groupsWithin({ visible }: Scope, asked: readonly string[] | undefined): readonly string[] | null {
  if (!asked) return visible && [...new Set(visible)];
  return [...new Set(asked)].filter((id) => visible === null || visible.includes(id));
}
