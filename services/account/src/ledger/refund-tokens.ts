import { tokensGranted } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type NewEvent, newEvent } from '@attribution/messaging';
import { followDisputes, yieldToRefund } from './disputed-purchase.ts';
import { defaultPriority, postGrant, purchaseKey } from './grant.store.ts';
import { findWithParts, type HoldRow } from './hold.store.ts';
import { findEntryByKey, lockBalance } from './ledger.store.ts';
import { captureUpTo, type Moved, nothing, partKey, takeUnspent } from './purchase-tokens.ts';
import { voidHold } from './void-hold.ts';

export interface Refund {
  readonly accountId: string;
  readonly paymentId: string;
  readonly refundId: string;
  /** The hold that reserved tokens for the refund; null when there is none. */
  readonly holdId: string | null;
  /** The number of tokens of the purchase that the refund gives back. */
  readonly amount: number;
  /** What was bought. */
  readonly product: string;
  readonly now: Date;
  readonly traceparent: string | null;
}

const refundKey = (refundId: string) => `refund:${refundId}`;

/**
 * Takes back the tokens of a refunded purchase: those that are held for the refund, otherwise as many as are still
 * available, or as disputes of the purchase have held or taken.
 */
export async function takeRefunded(tx: Sql, refund: Refund): Promise<Moved> {
  const { accountId, refundId, amount, product, now, traceparent } = refund;
  const entry = { kind: 'refund', description: `Refund: ${product}`, idempotencyKey: refundKey(refundId) } as const;
  const balance = await lockBalance(tx, accountId);
  if (!balance) return nothing;
  const own = await findOwnHolds(tx, refund);
  if (own.some(({ status }) => status === 'captured')) return nothing;
  const holds = own.filter(({ status }) => status === 'pending');
  if (holds.length > 0) return captureUpTo(tx, { holds, balance, amount, entry, now, traceparent });
  const changed = { ...refund, cause: refundId };
  const yielded = await yieldToRefund(tx, changed, amount);
  const taken = await takeUnspent(tx, { ...refund, entry });
  const { events } = await followDisputes(tx, changed);
  return { tokens: taken.tokens, events: [...yielded, ...taken.events, ...events] };
}

/**
 * Releases the tokens that were held for a refund that failed; those that it took, when it is reversed, are granted
 * again. Disputes of the purchase hold or take them first.
 */
export async function returnRefunded(
  tx: Sql,
  refund: Refund,
  { reversed }: { readonly reversed: boolean },
): Promise<{ readonly given: number; readonly events: readonly NewEvent[] }> {
  await lockBalance(tx, refund.accountId);
  const released = await releaseRefund(tx, refund);
  const given = reversed ? await giveBackRefunded(tx, refund) : nothing;
  const events = [...released.events, ...given.events];
  if (released.tokens + given.tokens === 0) return { given: 0, events };
  const followed = await followDisputes(tx, { ...refund, cause: `${refund.refundId}:failed` });
  return { given: given.tokens, events: [...events, ...followed.events] };
}

async function releaseRefund(tx: Sql, refund: Refund): Promise<Moved> {
  const pending = (await findOwnHolds(tx, refund)).filter(({ status }) => status === 'pending');
  const events: NewEvent[] = [];
  for (const hold of pending) events.push((await voidHold(tx, hold, refund)).event);
  return { tokens: pending.reduce((sum, { amount }) => sum + Number(amount), 0), events };
}

/**
 * Grants the tokens of a reversed refund again. It is a new grant, because the remaining tokens of a grant never
 * increase. A later refund of the purchase finds it.
 */
async function giveBackRefunded(tx: Sql, refund: Refund): Promise<Moved> {
  const { accountId, paymentId, refundId, product, now, traceparent } = refund;
  const amount = await sumTaken(tx, refund);
  const purchase = await findEntryByKey(tx, accountId, purchaseKey(paymentId));
  if (amount === 0 || !purchase) return nothing;
  const description = `Refund that came back: ${product}`;
  const grant = { kind: 'adjustment', amount, description, priority: defaultPriority, expiresAt: null } as const;
  const idempotencyKey = `refund-reversed:${refundId}`;
  const posted = await postGrant(tx, { ...grant, accountId, idempotencyKey, purchaseId: purchase.id, now });
  if (posted.repeated) return nothing;
  const data = { account_id: accountId, entry_id: posted.entry.id, amount, expires_at: null };
  return { tokens: amount, events: [newEvent(tokensGranted, data, { accountId, occurredAt: now, traceparent })] };
}

/** The number of tokens that the refund took, by one entry for each hold. */
async function sumTaken(tx: Sql, { accountId, refundId }: Refund): Promise<number> {
  for (let n = 0, sum = 0; ; n++) {
    const entry = await findEntryByKey(tx, accountId, partKey(refundKey(refundId), n));
    if (!entry) return sum;
    sum -= Number(entry.amount);
  }
}

async function findOwnHolds(tx: Sql, { holdId, accountId }: Refund): Promise<readonly HoldRow[]> {
  const holds = holdId === null ? [] : await findWithParts(tx, holdId);
  return holds.filter(({ account_id }) => account_id === accountId);
}
