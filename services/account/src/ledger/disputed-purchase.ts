import { tokensGranted } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type NewEvent, newEvent } from '@attribution/messaging';
import { type DisputedRow, findDisputeHolds, findDisputes, findKeptTokens, setTaken } from './debt.store.ts';
import { defaultPriority, findPurchaseGrants, postGrant, purchaseKey } from './grant.store.ts';
import { findEntryByKey, lockBalance } from './ledger.store.ts';
import { openTokens, reserveUnspent, takeUnspent } from './purchase-tokens.ts';
import { voidHold } from './void-hold.ts';

/** A purchase whose tokens have changed, and what changed them. */
export interface DisputedPurchase {
  readonly accountId: string;
  readonly paymentId: string;
  /** What was bought, for the descriptions of holds and entries. */
  readonly product: string;
  /** Different for each change of this purchase. */
  readonly cause: string;
  readonly now: Date;
  readonly traceparent: string | null;
}

/** What is done for a dispute. */
interface Followed {
  readonly disputeId: string;
  /** The tokens that it holds, or has taken. */
  readonly tokens: number;
  /** Those that are owed for it. */
  readonly debt: number;
}

/** Longer than any bank takes to decide. */
const holdForMs = 400 * 86_400_000;
const keyOf = ({ dispute_id }: DisputedRow, cause: string) => `dispute:${dispute_id}:${cause}`;

/**
 * Brings the disputes of a purchase up to its tokens. An open one holds what is unspent. A lost one takes it, and what was
 * spent is owed. Both leave what refunds gave back, so it does not matter which of them is heard of first.
 */
export async function followDisputes(
  tx: Sql,
  purchase: DisputedPurchase,
): Promise<{ readonly followed: readonly Followed[]; readonly events: readonly NewEvent[] }> {
  const followed: Followed[] = [];
  const events: NewEvent[] = [];
  for (const row of await findDisputes(tx, purchase)) {
    const done = await (row.lost ? takeLost : holdOpen)(tx, row, purchase);
    followed.push({ disputeId: row.dispute_id, tokens: done.tokens, debt: done.debt });
    events.push(...done.events);
  }
  return { followed, events };
}

async function holdOpen(tx: Sql, row: DisputedRow, { cause, product, ...purchase }: DisputedPurchase) {
  const balance = await lockBalance(tx, purchase.accountId);
  const own = (await findDisputeHolds(tx, purchase)).filter(({ dispute_id }) => dispute_id === row.dispute_id);
  const before = own.reduce((sum, { amount }) => sum + Number(amount), 0);
  if (!balance || before >= row.disputed) return { tokens: before, debt: 0, events: [] };
  const { holds, events } = await reserveUnspent(tx, balance, {
    ...purchase,
    amount: row.disputed - before,
    description: `Disputed: ${product}`,
    idempotencyKey: keyOf(row, cause),
    expiresAt: new Date(purchase.now.getTime() + holdForMs),
  });
  return { tokens: holds.reduce((sum, { amount }) => sum + Number(amount), before), debt: 0, events };
}

async function takeLost(tx: Sql, row: DisputedRow, { cause, product, ...purchase }: DisputedPurchase) {
  const { disputed, taken, amount, paid } = row;
  await lockBalance(tx, purchase.accountId);
  const more = Math.max(0, Math.min(disputed - taken - amount, await findKeptTokens(tx, purchase)));
  const { tokens, events } = await takeUnspent(tx, {
    ...purchase,
    amount: more + amount - paid,
    entry: { kind: 'refund', description: `Lost dispute: ${product}`, idempotencyKey: keyOf(row, cause) },
  });
  const after = { taken: taken + tokens, amount: amount + more - tokens };
  await setTaken(tx, { accountId: purchase.accountId, disputeId: row.dispute_id }, after);
  return { tokens: after.taken, debt: after.amount, events };
}

/**
 * Makes so many tokens of a purchase available to a refund as its disputes have: those that are held, and of those that
 * were taken as many as are missing. The balance must be locked, and `followDisputes` must come afterwards.
 */
export async function yieldToRefund(
  tx: Sql,
  { accountId, paymentId, product, cause, now, traceparent }: DisputedPurchase,
  amount: number,
): Promise<readonly NewEvent[]> {
  const events: NewEvent[] = [];
  for (const hold of await findDisputeHolds(tx, { accountId, paymentId }))
    events.push((await voidHold(tx, hold, { now, traceparent })).event);
  const balance = await lockBalance(tx, accountId);
  const purchase = await findEntryByKey(tx, accountId, purchaseKey(paymentId));
  if (!balance || !purchase) return events;
  const open = openTokens(await findPurchaseGrants(tx, accountId, paymentId));
  let missing = amount - Math.min(open, Number(balance.posted - balance.held));
  for (const row of await findDisputes(tx, { accountId, paymentId })) {
    const back = Math.min(missing, row.taken);
    if (back <= 0) continue;
    missing -= back;
    const idempotencyKey = `${keyOf(row, cause)}:back`;
    const description = `Lost dispute, refunded already: ${product}`;
    const grant = {
      kind: 'adjustment',
      amount: back,
      description,
      priority: defaultPriority,
      expiresAt: null,
    } as const;
    const { entry } = await postGrant(tx, { ...grant, accountId, idempotencyKey, purchaseId: purchase.id, now });
    const disputeId = row.dispute_id;
    await setTaken(tx, { accountId, disputeId }, { taken: row.taken - back, amount: row.amount });
    const granted = { account_id: accountId, entry_id: entry.id, amount: back, expires_at: null };
    events.push(newEvent(tokensGranted, granted, { accountId, occurredAt: now, traceparent }));
  }
  return events;
}
