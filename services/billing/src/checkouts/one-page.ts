import { Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { type PaymentProvider, ProviderError } from '../provider/index.ts';
import type { BillingDatabase, Refresh } from '../store.ts';
import { findLatestSubscription, isOver } from '../subscriptions/index.ts';
import { type CheckoutRow, findOpenSubscriptions } from './checkout.store.ts';

export interface OnePageDependencies {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly refresh: Refresh;
  readonly clock: Clock;
}

/** Throws `conflict` when the account has a subscription that may still be charged. */
export async function requireNoSubscription(
  { database, clock }: Pick<OnePageDependencies, 'database' | 'clock'>,
  accountId: string,
): Promise<void> {
  const latest = await findLatestSubscription(database, accountId);
  if (!latest || isOver(latest, clock.now())) return;
  const plan = JSON.stringify(latest.plan_key);
  throw new Problem('conflict', `The account has a subscription to ${plan}: change its plan instead.`);
}

/**
 * Of all open pages that would start a subscription for the account, keeps only the newest: a customer who paid on two
 * of them would be charged for two subscriptions. Throws `conflict` if this page is not the one to keep.
 */
export async function keepOnePage(
  deps: OnePageDependencies,
  { id, account_id: accountId }: CheckoutRow,
): Promise<void> {
  const open = await findOpenSubscriptions(deps.database.sql, accountId);
  const newest = open[0]?.id;
  for (const page of open) if (page.id !== newest) await close(deps, page);
  if (newest !== undefined && newest !== id)
    throw new Problem('conflict', 'Another page to subscribe on was opened at the same moment.');
  try {
    // Another page may have been paid before it could be closed.
    await requireNoSubscription(deps, accountId);
  } catch (error) {
    for (const page of open) if (page.id === newest) await close(deps, page);
    throw error;
  }
}

async function close(
  { provider, refresh }: OnePageDependencies,
  { provider_checkout_id: id }: CheckoutRow,
): Promise<void> {
  // The page has not been created yet. The request that creates it will call this function too.
  if (id === null) return;
  await provider.expireCheckout(id).catch((error: unknown) => {
    if (!(error instanceof ProviderError && error.kind === 'refused')) throw error;
  });
  await refresh('checkout', id);
}
