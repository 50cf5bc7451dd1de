import { type Client, createTokenHold, Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import type { Logger } from 'pino';
import type { PaymentRow } from '../payments/index.ts';
import { type PaymentProvider, ProviderError, providerProblem } from '../provider/index.ts';
import type { BillingDatabase, Refresh, WriteFor } from '../store.ts';
import { giveCredit } from './give-credit.ts';
import { deleteRefund, type RefundRow, setHold } from './refund.store.ts';
import { mayBeForgotten } from './refund.ts';
import { destinationOf, reasonOf } from './refund.view.ts';
import { writeRefusal } from './write-refund.ts';

export interface RefundDependencies {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly refresh: Refresh;
  readonly writeFor: WriteFor;
  readonly account: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longer than a bank needs to confirm or reject a refund. */
const holdFor = '60d';

/**
 * Holds the tokens, makes the refund at the provider, and stores the result. Every step is idempotent under the
 * refund's id, so that an unfinished refund can be started again.
 */
export async function carryOut(deps: RefundDependencies, refund: RefundRow, payment: PaymentRow): Promise<void> {
  const holdId = refund.hold_id ?? (await holdTokens(deps, refund));
  const { refresh, writeFor } = deps;
  try {
    if (destinationOf(refund) === 'store_credit') await giveCredit(deps, { ...refund, hold_id: holdId }, payment);
    else await refresh('refund', (await makeOnce(deps, refund, payment)).id);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind === 'unavailable') throw providerProblem(error);
    await writeFor(refund.account_id, (writing) => writeRefusal(writing, { ...refund, hold_id: holdId }, payment));
    throw new Problem('unprocessable', `body.payment_id: the payment provider refuses the refund: ${error.message}`);
  }
}

/** For a refund whose key may be forgotten first look for one that was already made. */
async function makeOnce({ provider, clock }: RefundDependencies, refund: RefundRow, payment: PaymentRow) {
  const paymentId = payment.provider_payment_id ?? '';
  const found = mayBeForgotten(refund, clock) ? await provider.findRefund(paymentId, refund.id) : undefined;
  const { amount_cents: amountCents, id: reference } = refund;
  return found ?? provider.createRefund({ paymentId, amountCents, reason: reasonOf(refund), reference }, reference);
}

/** Holds the tokens that the payment bought. A refund whose tokens are already spent is refused. */
async function holdTokens(
  { database, account, logger }: RefundDependencies,
  refund: RefundRow,
): Promise<string | null> {
  if (refund.token_amount === 0) return null;
  const body = {
    account_id: refund.account_id,
    idempotency_key: refund.id,
    amount: refund.token_amount,
    description: `Refund ${refund.id}`,
    expires_in: holdFor,
    payment_id: refund.payment_id,
  };
  const answer = await account.call(createTokenHold, { body }).catch((error: unknown) => {
    logger.warn({ err: error }, 'Tokens could not be held for a refund');
    throw new Problem('upstream-error', 'The tokens could not be held for now. Try again.', { 'retry-after': '1' });
  });
  if (!answer.problem) {
    await setHold(database.sql, refund.id, answer.body.id);
    return answer.body.id;
  }
  const { kind, detail } = answer.problem;
  if (kind === 'insufficient-balance' || kind === 'unprocessable' || kind === 'conflict') {
    await deleteRefund(database.sql, refund.id);
    throw new Problem(kind, detail);
  }
  throw new Problem('upstream-error', 'The tokens could not be held for now. Try again.', { 'retry-after': '1' });
}
