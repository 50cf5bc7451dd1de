import { type EventData, refundFailed, refundSucceeded } from '@attribution/contracts';
import { type EventHandler, type Outbox, on } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { type Refund, returnRefunded, takeRefunded } from '../ledger/index.ts';
import { creditMail, type MailQueue, refundMail, refundReversedMail } from '../mail/index.ts';
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
      const refund = refundOf(data, clock.now(), traceparent);
      if (!(await settle(tx, data.account_id, `refund:${data.refund_id}`, refund.now))) return;
      const { tokens, events } = await takeRefunded(tx, refund);
      await outbox.append(tx, ...events);
      const template = data.destination === 'store_credit' ? creditMail : refundMail;
      await mailBillingPeople(tx, mail, data, tokens, template);
    }),
    on(refundFailed, async (tx: Tx, { data, traceparent }) => {
      const refund = refundOf(data, clock.now(), traceparent);
      const reversed =
        data.reversed && (await settle(tx, data.account_id, `refund-reversed:${data.refund_id}`, refund.now));
      const { given, events } = await returnRefunded(tx, refund, { reversed });
      await outbox.append(tx, ...events);
      if (reversed) await mailBillingPeople(tx, mail, data, given, refundReversedMail);
    }),
  ];
}

const refundOf = (data: EventData<typeof refundSucceeded>, now: Date, traceparent: string | null): Refund => ({
  accountId: data.account_id,
  paymentId: data.payment_id,
  refundId: data.refund_id,
  holdId: data.hold_id,
  amount: data.token_amount,
  product: data.description,
  now,
  traceparent,
});
