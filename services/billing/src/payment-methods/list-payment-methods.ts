import { listPaymentMethods } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { findProviderCustomerId } from '../customers/index.ts';
import { type PaymentProvider, providerProblem } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';

export const listPaymentMethodsEndpoint = (database: BillingDatabase, provider: PaymentProvider) =>
  implement(listPaymentMethods, async ({ caller }) => {
    const customerId = await findProviderCustomerId(database, caller.accountId);
    if (customerId === null) return [];
    const methods = await provider.listPaymentMethods(customerId).catch((error: unknown) => {
      throw providerProblem(error);
    });
    return [...methods];
  });
