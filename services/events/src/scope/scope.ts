import { type Principal, visibleGroupIds } from '@attribution/auth';

/** What a caller asks figures of. */
export interface Scope {
  readonly accountId: string;
  /** The groups of a narrowed caller; null: all locations, deleted ones too. */
  readonly visibleGroups: readonly string[] | null;
  readonly locationIds: readonly string[] | null;
  readonly groupIds: readonly string[] | null;
  /** Local days; null: open. */
  readonly from: string | null;
  readonly to: string | null;
}

interface ScopeQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly location_ids?: readonly string[] | undefined;
  readonly group_ids?: readonly string[] | undefined;
}

export const scopeOf = (caller: Principal, query: ScopeQuery): Scope => ({
  accountId: caller.accountId,
  visibleGroups: visibleGroupIds(caller),
  locationIds: query.location_ids ?? null,
  groupIds: query.group_ids ?? null,
  from: query.from ?? null,
  to: query.to ?? null,
});
