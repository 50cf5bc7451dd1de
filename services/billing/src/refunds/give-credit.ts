import type { Clock } from '@attribution/runtime';
import { providerCustomer } from '../customers/index.ts';
import type { PaymentRow } from '../payments/index.ts';
import { type PaymentProvider, type ProviderCredit, ProviderError } from '../provider/index.ts';
import type { BillingDatabase, WriteFor } from '../store.ts';
import type { RefundRow } from './refund.store.ts';
import { mayBeForgotten } from './refund.ts';
import { writeCredited } from './write-refund.ts';

interface CreditDependencies {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly writeFor: WriteFor;
  readonly clock: Clock;
}

/** Adds the refund to the customer's balance at the provider, once, and stores the result with the new balance. */
export async function giveCredit(deps: CreditDependencies, refund: RefundRow, payment: PaymentRow): Promise<void> {
  const { provider, writeFor } = deps;
  const customerId = await providerCustomer(deps, refund.account_id);
  const made = await creditOnce(deps, refund, payment, customerId);
  await writeFor(refund.account_id, async (writing) => {
    const { balance_cents } = await provider.getCustomer(customerId);
    await writeCredited(writing, { ...refund, provider_refund_id: made.id }, -balance_cents);
  });
}

async function creditOnce(
  { provider, clock }: CreditDependencies,
  refund: RefundRow,
  payment: PaymentRow,
  customerId: string,
): Promise<ProviderCredit> {
  const { id: reference, amount_cents: amountCents } = refund;
  if (mayBeForgotten(refund, clock) || payment.disputed)
    for await (const credit of provider.listCredits(customerId)) if (credit.reference === reference) return credit;
  if (payment.disputed) throw new ProviderError('refused', 'A payment that is disputed cannot be refunded.');
  const description = `Refund of payment ${payment.id}`;
  const credit = { customerId, amountCents, currency: payment.currency, description, reference };
  return provider.createCredit(credit, reference);
}
