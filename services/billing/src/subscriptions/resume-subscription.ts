import { Problem, resumeSubscription } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { implement } from '@attribution/service';
import { type SubscriptionDependencies, setCancelling } from './set-cancelling.ts';
import { findLatestSubscription } from './subscription.store.ts';
import { isOver, snapshotOf } from './subscription.ts';

export const resumeSubscriptionEndpoint = (deps: SubscriptionDependencies) =>
  implement(resumeSubscription, async ({ caller }) => {
    const latest = await findLatestSubscription(deps.database, caller.accountId);
    if (!latest || isOver(latest, deps.clock.now())) throw Problem.notFound();
    const cancelling = latest.cancel_at_period_end && (latest.status === 'active' || latest.status === 'trialing');
    if (!cancelling) return snapshotOf(latest);
    const now = await setCancelling(deps, latest, false, newUuid());
    if (isOver(now, deps.clock.now())) throw Problem.notFound();
    return snapshotOf(now);
  });
