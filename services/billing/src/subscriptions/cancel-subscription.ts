import { cancelSubscription } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { implement } from '@attribution/service';
import { type SubscriptionDependencies, setCancelling } from './set-cancelling.ts';
import { findLatestSubscription } from './subscription.store.ts';
import { canceledSnapshot, isLive, snapshotOf } from './subscription.ts';

export const cancelSubscriptionEndpoint = (deps: SubscriptionDependencies) =>
  implement(cancelSubscription, async ({ caller }) => {
    const latest = await findLatestSubscription(deps.database, caller.accountId);
    if (!latest || !isLive(latest)) return canceledSnapshot(latest);
    const now = await setCancelling(deps, latest, true, newUuid());
    return isLive(now) ? snapshotOf(now) : canceledSnapshot(now);
  });
