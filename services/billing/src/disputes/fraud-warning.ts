import type { Logger } from 'pino';
import { type PaymentProvider, ProviderError } from '../provider/index.ts';
import type { Refresh } from '../store.ts';

interface WarningDependencies {
  readonly provider: PaymentProvider;
  readonly refresh: Refresh;
  readonly logger: Logger;
}

/**
 * Refunds all that is left of the payment, because a dispute would cost more. The tokens that are unspent are taken as for a
 * refund that was made at the provider: a warning does not wait until spent ones are back. A warning that is heard of again
 * refunds nothing more.
 */
export async function actOnFraudWarning({ provider, refresh, logger }: WarningDependencies, id: string): Promise<void> {
  const { payment_id: paymentId, actionable } = await provider.getFraudWarning(id);
  const payment = await provider.getPayment(paymentId);
  const amountCents = payment.amount_cents - payment.refunded_cents;
  if (!actionable || payment.status !== 'succeeded' || payment.disputed || amountCents <= 0) return;
  const refund = { paymentId, amountCents, reason: 'fraudulent', reference: id } as const;
  try {
    const made = await provider.createRefund(refund, `warning-${id}-${amountCents}`);
    await refresh('refund', made.id);
  } catch (error) {
    // It was refunded or disputed at the same moment.
    if (!(error instanceof ProviderError && error.kind === 'refused')) throw error;
    logger.warn({ payment_id: paymentId, reason: error.message }, 'A payment that may be fraud is not refunded');
  }
}
