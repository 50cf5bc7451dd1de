import type { ProviderCheckout } from '../provider/index.ts';
import type { Writing } from '../store.ts';
import { findCheckout, setCheckout } from './checkout.store.ts';

/** Writes what the provider says of a checkout, if it is the account's. */
export async function writeCheckout({ tx, customer }: Writing, told: ProviderCheckout): Promise<void> {
  if (!(await findCheckout(tx, customer.account_id, told.reference))) return;
  await setCheckout(tx, told.reference, { providerId: told.id, url: told.url, status: told.status });
}
