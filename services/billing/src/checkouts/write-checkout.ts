import type { ProviderCheckout } from '../provider/index.ts';
import type { Writing } from '../store.ts';
import { findCheckout, setCheckout } from './checkout.store.ts';

/** Stores the state of a checkout at the provider, if the checkout belongs to the account. */
export async function writeCheckout({ tx, customer }: Writing, checkout: ProviderCheckout): Promise<void> {
  if (!(await findCheckout(tx, customer.account_id, checkout.reference))) return;
  await setCheckout(tx, checkout.reference, { providerId: checkout.id, url: checkout.url, status: checkout.status });
}
