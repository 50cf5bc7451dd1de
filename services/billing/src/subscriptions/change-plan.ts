import { changePlan, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { activePrice, findPrices, type PlanPriceRow } from '../prices/index.ts';
import { ProviderError, type ProviderSubscription, thingProblem } from '../provider/index.ts';
import { refreshed, type SubscriptionDependencies } from './set-cancelling.ts';
import {
  beginPlanChange,
  findLatestSubscription,
  findPlanChange,
  finishPlanChange,
  type PlanChangeRow,
  type SubscriptionRow,
} from './subscription.store.ts';
import { changeTypeOf, isOver, snapshotOf } from './subscription.ts';

/** How long a change without a response of the provider blocks other changes, in milliseconds. */
const unansweredMs = 60_000;

export const changePlanEndpoint = (deps: SubscriptionDependencies) =>
  implement(changePlan, async ({ body, caller, attempt }) => {
    const { database } = deps;
    const price = await activePrice(database, body.plan_key);
    if (price.interval === null)
      throw new Problem('validation-error', `body.plan_key: ${JSON.stringify(body.plan_key)} is not a plan.`);
    // Read the subscription first: if no change of this attempt is found afterwards, then this is its state before the
    // change.
    const latest = await findLatestSubscription(database, caller.accountId);
    const change = (await findPlanChange(database, attempt)) ?? (await decide(deps, latest, price, attempt));
    const { pending_plan_key } = await ask(deps, change, price);
    const now = await refreshed(deps, change.provider_subscription_id);
    const waits = pending_plan_key === price.plan_key && now.plan_key !== price.plan_key;
    const snapshot = { ...snapshotOf(now), ...(waits && { status: 'incomplete' as const }) };
    return { plan_key: now.plan_key, change_type: change.change_type, ...snapshot };
  });

/** Makes the change at the provider. Until the provider has responded, no other change may begin. */
async function ask(
  { database, provider, clock }: SubscriptionDependencies,
  change: PlanChangeRow,
  price: PlanPriceRow,
): Promise<ProviderSubscription> {
  const { id, provider_subscription_id: subscriptionId, from_plan_key: fromPlanKey, change_type: type } = change;
  try {
    const changed = await provider.changePlan({ subscriptionId, fromPlanKey, price, type }, `plan-${id}`);
    await finishPlanChange(database, id, clock.now());
    return changed;
  } catch (error) {
    if (error instanceof ProviderError && error.kind !== 'unavailable')
      await finishPlanChange(database, id, clock.now());
    throw thingProblem(error);
  }
}

/**
 * Decides which kind of change it is, and stores it before the provider is called, because afterwards the former plan
 * is no longer known.
 */
async function decide(
  { database, writeFor, clock }: SubscriptionDependencies,
  latest: SubscriptionRow | undefined,
  to: PlanPriceRow,
  attempt: string,
): Promise<PlanChangeRow> {
  const now = clock.now();
  if (!latest || isOver(latest, now)) throw Problem.notFound();
  if (latest.plan_key === to.plan_key)
    throw new Problem('conflict', `body.plan_key: the subscription is on ${JSON.stringify(to.plan_key)} already.`);
  const from = (await findPrices(database.sql, [latest.plan_key])).get(latest.plan_key);
  const change: PlanChangeRow = {
    id: attempt,
    account_id: latest.account_id,
    provider_subscription_id: latest.provider_subscription_id,
    from_plan_key: latest.plan_key,
    to_plan_key: to.plan_key,
    change_type: changeTypeOf(from, to),
    created_at: now,
  };
  if (change.change_type === 'upgrade' && latest.status !== 'active' && latest.status !== 'trialing')
    throw new Problem('conflict', 'What is past due is paid first.');
  const begun = await writeFor(change.account_id, ({ tx }) => beginPlanChange(tx, change, unansweredMs));
  if (!begun) throw new Problem('conflict', 'Another change of the plan is under way.');
  return begun;
}
