import { type NewCredit, ProviderError } from '../payment-provider.ts';
import type { BalanceTransaction } from './objects.ts';
import type { Simulation } from './simulation.ts';

export function createCredit(simulation: Simulation, requested: NewCredit): BalanceTransaction {
  const { store } = simulation;
  const customer = store.get('customer', requested.customerId);
  if (!Number.isSafeInteger(requested.amountCents) || requested.amountCents <= 0)
    throw new ProviderError('refused', 'Credit is a whole number of cents above nought.');
  const holder = store.put({ ...customer, balance: customer.balance - requested.amountCents });
  const credit = store.put<BalanceTransaction>({
    ...simulation.begin('customer_balance_transaction'),
    customer: customer.id,
    amount: -requested.amountCents,
    currency: requested.currency,
    description: requested.description,
    metadata: { reference: requested.reference },
  });
  simulation.emit('customer.updated', holder);
  return credit;
}
