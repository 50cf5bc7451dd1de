import type Stripe from 'stripe';
import type { NewCredit, ProviderCredit } from '../payment-provider.ts';
import { pathId } from './ids.ts';
import { creditOf } from './objects/credit.ts';

/** Of a balance at Stripe what is below zero is credit. */
export async function createCredit(stripe: Stripe, credit: NewCredit, key: string): Promise<ProviderCredit> {
  const { customerId, amountCents, currency, description, reference } = credit;
  const params = { amount: -amountCents, currency, description, metadata: { reference } };
  return creditOf(await stripe.customers.createBalanceTransaction(pathId(customerId), params, { idempotencyKey: key }));
}

export async function* listCredits(stripe: Stripe, customerId: string): AsyncGenerator<ProviderCredit> {
  for await (const listed of stripe.customers.listBalanceTransactions(pathId(customerId), { limit: 100 })) {
    const credit = creditOf(listed);
    if (credit.reference !== '') yield credit;
  }
}
