import type { Sql } from '@attribution/database';
import type { NewEvent } from '@attribution/messaging';
import { findDisputeHolds, payOldest, putDispute, removeDispute, sumDebts } from './debt.store.ts';
import { type DisputedPurchase, followDisputes } from './disputed-purchase.ts';
import { lockBalance } from './ledger.store.ts';
import { type Moved, nothing, takeUnspent } from './purchase-tokens.ts';
import { voidHold } from './void-hold.ts';

export interface Dispute extends Omit<DisputedPurchase, 'cause'> {
  readonly disputeId: string;
  /** The number of tokens of the purchase that the disputed money bought. */
  readonly amount: number;
}

/** Holds the tokens of a disputed purchase that are unspent. */
export const holdDisputed = (tx: Sql, dispute: Dispute): Promise<Moved> => keep(tx, dispute, { lost: false });

/** Takes back the tokens of a lost dispute as far as they are unspent. The others are a debt. */
export async function takeDisputed(tx: Sql, dispute: Dispute): Promise<Moved & { readonly debt: number }> {
  const { events: released } = await releaseHolds(tx, dispute);
  const { events, ...moved } = await keep(tx, dispute, { lost: true });
  return { ...moved, events: [...released, ...events] };
}

/** Releases the tokens that are held for a dispute that is won. */
export async function releaseDisputed(tx: Sql, dispute: Dispute): Promise<Moved> {
  const { tokens, events } = await releaseHolds(tx, dispute);
  await removeDispute(tx, dispute);
  const others = await followDisputes(tx, { ...dispute, cause: dispute.disputeId });
  return { tokens, events: [...events, ...others.events] };
}

async function keep(tx: Sql, dispute: Dispute, { lost }: { readonly lost: boolean }) {
  const { accountId, disputeId, amount } = dispute;
  if (amount === 0 || !(await lockBalance(tx, accountId))) return { ...nothing, debt: 0 };
  await putDispute(tx, { ...dispute, lost });
  const { followed, events } = await followDisputes(tx, { ...dispute, cause: lost ? 'lost' : 'opened' });
  const own = followed.find((one) => one.disputeId === disputeId);
  return { tokens: own?.tokens ?? 0, debt: own?.debt ?? 0, events };
}

async function releaseHolds(tx: Sql, dispute: Dispute): Promise<Moved> {
  const events: NewEvent[] = [];
  let tokens = 0;
  await lockBalance(tx, dispute.accountId);
  for (const hold of await findDisputeHolds(tx, dispute)) {
    if (hold.dispute_id !== dispute.disputeId) continue;
    events.push((await voidHold(tx, hold, dispute)).event);
    tokens += Number(hold.amount);
  }
  return { tokens, events };
}

/** Pays what the account owes from the tokens of a purchase. */
export async function payDebts(
  tx: Sql,
  purchase: Pick<Dispute, 'accountId' | 'paymentId' | 'now' | 'traceparent'>,
): Promise<Moved> {
  const { accountId, paymentId } = purchase;
  await lockBalance(tx, accountId);
  const amount = await sumDebts(tx, accountId);
  const entry = { kind: 'debt', description: 'Debt of a lost dispute', idempotencyKey: `debt:${paymentId}` } as const;
  const moved = await takeUnspent(tx, { ...purchase, amount, entry });
  if (moved.tokens > 0) await payOldest(tx, accountId, moved.tokens);
  return moved;
}
