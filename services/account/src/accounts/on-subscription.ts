import { accountLimitsChanged, type EventData, subscriptionDeleted, subscriptionUpdated } from '@attribution/contracts';
import { type EventHandler, newEvent, type Outbox, on } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import type { Tx } from '../store.ts';
import { endPlan, type Limits, setPlan } from './account.store.ts';

interface Changed {
  readonly traceparent: string | null;
  readonly data: EventData<typeof subscriptionUpdated>;
}

/** Statuses in which a subscription gives its plan: until it ends, a late payment takes nothing away. */
const entitling = ['active', 'trialing', 'past_due', 'unpaid'];

/** Gives an account the limits of the plan that it has subscribed to, and announces them. */
export function onSubscriptions({ outbox, clock }: { outbox: Outbox; clock: Clock }): EventHandler<Tx>[] {
  const announce = async (tx: Tx, { data, traceparent }: Changed, limits: Limits | undefined) => {
    if (!limits) return;
    const { account_id } = data;
    const context = { accountId: account_id, occurredAt: clock.now(), traceparent };
    await outbox.append(tx, newEvent(accountLimitsChanged, { account_id, ...limits }, context));
  };
  return [
    on(subscriptionUpdated, async (tx: Tx, event) => {
      const { account_id, subscription_id: subscriptionId, plan_key: key, status } = event.data;
      if (entitling.includes(status)) await announce(tx, event, await setPlan(tx, account_id, { key, subscriptionId }));
    }),
    on(subscriptionDeleted, async (tx: Tx, event) => {
      await announce(tx, event, await endPlan(tx, event.data.account_id, event.data.subscription_id));
    }),
  ];
}
