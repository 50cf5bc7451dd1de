import type { Clock } from '@attribution/runtime';
import type { PaymentProvider } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';
import { ensureCustomer, setProviderCustomer } from './customer.store.ts';

/** The account's customer id at the provider. Creates the customer when it is first needed. */
export async function providerCustomer(
  { database, provider, clock }: { database: BillingDatabase; provider: PaymentProvider; clock: Clock },
  accountId: string,
): Promise<string> {
  const { name, provider_customer_id: known } = await ensureCustomer(database, accountId, clock.now());
  if (known !== null) return known;
  const { id } = await provider.createCustomer({ accountId, name }, `customer-${accountId}`);
  await setProviderCustomer(database, accountId, id);
  return id;
}
