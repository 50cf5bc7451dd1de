import {
  type EventData,
  invoicePaid,
  paymentFailed,
  paymentSucceeded,
  paymentWaits,
  tokensGranted,
} from '@attribution/contracts';
import { type EventHandler, newEvent, type Outbox, on } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { defaultPriority, payDebts, postGrant, purchaseKey } from '../ledger/index.ts';
import { type MailQueue, paymentFailedMail, paymentWaitsMail, receiptMail } from '../mail/index.ts';
import type { Tx } from '../store.ts';
import { mailBillingPeople } from './mail-billing-people.ts';
import { settle } from './settlement.store.ts';

interface Paid {
  readonly traceparent: string | null;
  readonly data: EventData<typeof paymentSucceeded>;
}

/** Grants the purchased tokens once per payment, and sends the receipt. */
export function onPayments(deps: { outbox: Outbox; mail: MailQueue; clock: Clock }): EventHandler<Tx>[] {
  const { outbox, mail, clock } = deps;

  async function paid(tx: Tx, { data, traceparent }: Paid): Promise<void> {
    const { account_id: accountId, token_amount: amount, receipt_url: receiptUrl } = data;
    const now = clock.now();
    const idempotencyKey = purchaseKey(data.payment_id);
    if (!(await settle(tx, accountId, idempotencyKey, now))) return;
    let debt = 0;
    if (amount > 0) {
      const { entry } = await postGrant(tx, {
        accountId,
        kind: 'purchase',
        amount,
        description: data.description,
        idempotencyKey,
        priority: defaultPriority,
        expiresAt: null,
        now,
      });
      const granted = { account_id: accountId, entry_id: entry.id, amount, expires_at: null };
      const paidOff = await payDebts(tx, { accountId, paymentId: data.payment_id, now, traceparent });
      debt = paidOff.tokens;
      const context = { accountId, occurredAt: now, traceparent };
      await outbox.append(tx, newEvent(tokensGranted, granted, context), ...paidOff.events);
    }
    if (data.amount_cents > 0)
      await mailBillingPeople(tx, mail, data, amount, (about) => receiptMail({ ...about, receiptUrl, debt }));
  }

  return [
    on(paymentWaits, (tx: Tx, { data: { page_url: pageUrl, expires_at: expiresAt, ...bought } }) =>
      mailBillingPeople(tx, mail, bought, bought.token_amount, (about) =>
        paymentWaitsMail({ ...about, pageUrl, expiresAt }),
      ),
    ),
    on(paymentSucceeded, paid),
    on(invoicePaid, paid),
    on(paymentFailed, (tx: Tx, { data }) =>
      mailBillingPeople(tx, mail, data, data.token_amount, (about) =>
        paymentFailedMail({ ...about, reason: data.reason }),
      ),
    ),
  ];
}
