import { Problem, removePaymentMethod } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { findProviderCustomerId } from '../customers/index.ts';
import { type PaymentProvider, thingProblem } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';

export const removePaymentMethodEndpoint = (database: BillingDatabase, provider: PaymentProvider) =>
  implement(removePaymentMethod, async ({ params, caller }) => {
    const customerId = await findProviderCustomerId(database, caller.accountId);
    if (customerId === null) throw Problem.notFound();
    await provider.detachPaymentMethod(customerId, params.id).catch((error: unknown) => {
      throw thingProblem(error);
    });
  });
