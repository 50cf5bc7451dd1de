import { Problem } from '@attribution/contracts';
import { findPayment } from '../payments/index.ts';
import { carryOut, type RefundDependencies } from './carry-out.ts';
import { findUnfinished } from './refund.store.ts';

/** In milliseconds: after this time the request that started the refund has been answered. */
const requestTimeoutMs = 30_000;
const batchSize = 100;

/** Continues refunds that were left unfinished by a crash, or by a provider that did not respond. */
export async function finishRefunds(deps: RefundDependencies): Promise<void> {
  const { database, clock, logger } = deps;
  const before = new Date(clock.now().getTime() - requestTimeoutMs);
  for (const refund of await findUnfinished(database, before, batchSize)) {
    const payment = await findPayment(database, refund.account_id, refund.payment_id);
    if (!payment) continue;
    await carryOut(deps, refund, payment).catch((error: unknown) => {
      const known = error instanceof Problem;
      logger.warn(
        { refund_id: refund.id, ...(known ? { reason: error.detail } : { err: error }) },
        'A refund is unfinished',
      );
    });
  }
}
