import { cancelSubscription } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { implement } from '@attribution/service';
import { type SubscriptionParts, setCancelling } from './set-cancelling.ts';
import { findLatestSubscription } from './subscription.store.ts';
import { canceledSnapshot, isLive, snapshotOf } from './subscription.ts';

export const cancelSubscriptionEndpoint = (parts: SubscriptionParts) =>
  implement(cancelSubscription, async ({ caller }) => {
    const latest = await findLatestSubscription(parts.database, caller.accountId);
    if (!latest || !isLive(latest)) return canceledSnapshot(latest);
    const now = await setCancelling(parts, latest, true, newUuid());
    return isLive(now) ? snapshotOf(now) : canceledSnapshot(now);
  });
