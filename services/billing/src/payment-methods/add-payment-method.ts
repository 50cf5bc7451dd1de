import { addPaymentMethod } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { providerCustomer } from '../customers/index.ts';
import { type PaymentProvider, providerProblem } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';

export const addPaymentMethodEndpoint = (deps: {
  database: BillingDatabase;
  provider: PaymentProvider;
  clock: Clock;
}) =>
  implement(addPaymentMethod, async ({ caller, attempt }) => {
    try {
      const customerId = await providerCustomer(deps, caller.accountId);
      return await deps.provider.createSetupIntent(customerId, `setup-${attempt}`);
    } catch (error) {
      throw providerProblem(error);
    }
  });
