import { disputeLost, disputeOpened, disputeWon, type EventData } from '@attribution/contracts';
import { type EventHandler, type Outbox, on } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { type Dispute, holdDisputed, releaseDisputed, takeDisputed } from '../ledger/index.ts';
import { disputeLostMail, disputeOpenedMail, disputeWonMail, type MailQueue } from '../mail/index.ts';
import type { Tx } from '../store.ts';
import { mailAdministrators } from './mail-billing-people.ts';
import { isSettled, settle } from './settlement.store.ts';

/**
 * Holds the unspent tokens of a disputed payment, and releases or takes them when its bank has decided; each once, and the
 * decision also when it is heard of first.
 */
export function onDisputes(deps: { outbox: Outbox; mail: MailQueue; clock: Clock }): EventHandler<Tx>[] {
  const { outbox, mail, clock } = deps;
  return [
    on(disputeOpened, async (tx: Tx, { data, traceparent }) => {
      const dispute = disputeOf(data, clock.now(), traceparent);
      const { accountId, now } = dispute;
      if (
        !(await settle(tx, accountId, openedKey(dispute), now)) ||
        (await isSettled(tx, accountId, closedKey(dispute)))
      )
        return;
      const { tokens, events } = await holdDisputed(tx, dispute);
      await outbox.append(tx, ...events);
      await mailAdministrators(tx, mail, data, tokens, (about) => disputeOpenedMail({ ...about, reason: data.reason }));
    }),
    on(disputeWon, async (tx: Tx, { data, traceparent }) => {
      const dispute = disputeOf(data, clock.now(), traceparent);
      if (!(await settle(tx, dispute.accountId, closedKey(dispute), dispute.now))) return;
      const { tokens, events } = await releaseDisputed(tx, dispute);
      await outbox.append(tx, ...events);
      await mailAdministrators(tx, mail, data, tokens, disputeWonMail);
    }),
    on(disputeLost, async (tx: Tx, { data, traceparent }) => {
      const dispute = disputeOf(data, clock.now(), traceparent);
      if (!(await settle(tx, dispute.accountId, closedKey(dispute), dispute.now))) return;
      const { tokens, events, debt } = await takeDisputed(tx, dispute);
      await outbox.append(tx, ...events);
      await mailAdministrators(tx, mail, data, tokens, (about) => disputeLostMail({ ...about, debt }));
    }),
  ];
}

const openedKey = ({ disputeId }: Dispute) => `dispute-opened:${disputeId}`;
const closedKey = ({ disputeId }: Dispute) => `dispute-closed:${disputeId}`;

const disputeOf = (data: EventData<typeof disputeWon>, now: Date, traceparent: string | null): Dispute => ({
  accountId: data.account_id,
  paymentId: data.payment_id,
  disputeId: data.dispute_id,
  amount: data.token_amount,
  product: data.description,
  now,
  traceparent,
});
