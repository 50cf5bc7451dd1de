import { type Principal, visibleGroupIds } from '@attribution/auth';
import type { GroupScope } from './group.store.ts';

/** What the caller sees of the estate (spec §5.5). */
export const scopeOf = (caller: Principal): GroupScope => ({
  accountId: caller.accountId,
  visible: visibleGroupIds(caller),
});
