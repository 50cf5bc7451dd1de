import { getBillingSummary } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findLatestSubscription } from '../subscriptions/index.ts';
import { currency, findCustomer } from './customer.store.ts';

export const getBillingSummaryEndpoint = (database: BillingDatabase) =>
  implement(getBillingSummary, async ({ caller }) => {
    const customer = await findCustomer(database, caller.accountId);
    const subscription = await findLatestSubscription(database, caller.accountId);
    // The row is created by an event of the account. Until it arrives, the account has no balance.
    return {
      account_id: caller.accountId,
      provider_customer_id: customer?.provider_customer_id ?? null,
      credit_balance_cents: customer?.credit_balance_cents ?? 0,
      currency: customer?.currency ?? currency,
      active_subscription: subscription
        ? {
            plan_key: subscription.plan_key,
            status: subscription.status,
            cancel_at_period_end: subscription.cancel_at_period_end,
            current_period_end: subscription.current_period_end?.toISOString() ?? null,
          }
        : null,
    };
  });
