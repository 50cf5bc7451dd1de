import { type EventData, refundFailed, refundSucceeded } from '@attribution/contracts';
import { type EventHandler, type Outbox, on } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { giveBackRefunded, type Refund, releaseRefund, takeRefunded } from '../ledger/index.ts';
import { type MailQueue, refundMail, refundReversedMail } from '../mail/index.ts';
import type { Tx } from '../store.ts';
import { mailBillingPeople } from './mail-billing-people.ts';
import { settle } from './settlement.store.ts';

/**
 * Takes back the refunded tokens once per refund. When a refund fails, releases or returns the tokens that were held
 * or taken for it.
 */
export function onRefunds(deps: { outbox: Outbox; mail: MailQueue; clock: Clock }): EventHandler<Tx>[] {
  const { outbox, mail, clock } = deps;
  return [
    on(refundSucceeded, async (tx: Tx, { data, traceparent }) => {
      const refund = refundOf(data, `Refund: ${data.description}`, clock.now(), traceparent);
      if (!(await settle(tx, data.account_id, `refund:${data.refund_id}`, refund.now))) return;
      const { tokens, events } = await takeRefunded(tx, refund);
      await outbox.append(tx, ...events);
      await mailBillingPeople(tx, mail, data, tokens, refundMail);
    }),
    on(refundFailed, async (tx: Tx, { data, traceparent }) => {
      const refund = refundOf(data, `Refund that came back: ${data.description}`, clock.now(), traceparent);
      const released = await releaseRefund(tx, refund);
      const isNew =
        data.reversed && (await settle(tx, data.account_id, `refund-reversed:${data.refund_id}`, refund.now));
      const given = isNew ? await giveBackRefunded(tx, refund) : undefined;
      await outbox.append(tx, ...released.events, ...(given?.events ?? []));
      if (given) await mailBillingPeople(tx, mail, data, given.tokens, refundReversedMail);
    }),
  ];
}

const refundOf = (
  data: EventData<typeof refundSucceeded>,
  description: string,
  now: Date,
  traceparent: string | null,
): Refund => ({
  accountId: data.account_id,
  paymentId: data.payment_id,
  refundId: data.refund_id,
  holdId: data.hold_id,
  amount: data.token_amount,
  description,
  now,
  traceparent,
});
