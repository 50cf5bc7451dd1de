import { tokensGranted, tokensHeld } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import { type NewEvent, newEvent } from '@attribution/messaging';
import { captureHold } from './capture-hold.ts';
import { defaultPriority, findOpenTokens, postGrant, purchaseKey } from './grant.store.ts';
import { type HoldRow, insertHoldOf, lockHold } from './hold.store.ts';
import { type BalanceRow, findEntryByKey, lockBalance } from './ledger.store.ts';
import { voidHold } from './void-hold.ts';

export interface Refund {
  readonly accountId: string;
  readonly paymentId: string;
  readonly refundId: string;
  /** The hold that reserved tokens for the refund; null when there is none. */
  readonly holdId: string | null;
  /** The number of tokens of the purchase that the refund gives back. */
  readonly amount: number;
  /** The description of the ledger entry. */
  readonly description: string;
  readonly now: Date;
  readonly traceparent: string | null;
}

/** The number of tokens moved, and the events to append. */
interface Moved {
  readonly tokens: number;
  readonly events: readonly NewEvent[];
}
const nothing: Moved = { tokens: 0, events: [] };

const refundKey = (refundId: string) => `refund:${refundId}`;

/**
 * Takes back the tokens of a refunded purchase: those that are held for the refund, otherwise as many as are still
 * available.
 */
export async function takeRefunded(tx: Sql, refund: Refund): Promise<Moved> {
  const { accountId, now, traceparent, description } = refund;
  const own = await lockOwnHold(tx, refund);
  const balance = await lockBalance(tx, accountId);
  if (!balance || own?.status === 'captured') return nothing;
  const [hold, ...held] = own?.status === 'pending' ? [own] : await holdRest(tx, balance, refund);
  if (!hold) return nothing;
  const amount = Number(hold.amount);
  const entry = { kind: 'refund', description, idempotencyKey: refundKey(refund.refundId) } as const;
  const { event } = await captureHold(tx, { hold, balance, amount, entry, now, traceparent });
  return { tokens: amount, events: [...held, event] };
}

/** Makes a hold that is captured at once, so that consumers of the events see a refund like any other capture. */
async function holdRest(tx: Sql, balance: BalanceRow, refund: Refund): Promise<[] | [HoldRow, NewEvent]> {
  const { accountId, refundId, description, now, traceparent } = refund;
  const purchase = await findEntryByKey(tx, accountId, purchaseKey(refund.paymentId));
  const open = purchase ? await findOpenTokens(tx, purchase.id) : 0n;
  const amount = Math.min(refund.amount, Number(open), Number(balance.posted - balance.held));
  if (!purchase || amount <= 0) return [];
  const id = newId('token_hold');
  const fields = { id, accountId, amount, description, idempotencyKey: refundKey(refundId), expiresAt: now, now };
  const hold = await insertHoldOf(tx, purchase.id, fields);
  const data = { account_id: accountId, hold_id: id, amount };
  return [hold, newEvent(tokensHeld, data, { accountId, occurredAt: now, traceparent })];
}

/** Releases the tokens that were held for a refund that failed. */
export async function releaseRefund(tx: Sql, refund: Refund): Promise<Moved> {
  const hold = await lockOwnHold(tx, refund);
  if (hold?.status !== 'pending') return nothing;
  const { event } = await voidHold(tx, hold, refund);
  return { tokens: 0, events: [event] };
}

/**
 * Grants the tokens of a reversed refund again. It is a new grant, because the remaining tokens of a grant never
 * increase.
 */
export async function giveBackRefunded(tx: Sql, refund: Refund): Promise<Moved> {
  const { accountId, refundId, description, now, traceparent } = refund;
  const taken = await findEntryByKey(tx, accountId, refundKey(refundId));
  if (!taken) return nothing;
  const amount = -Number(taken.amount);
  const grant = { kind: 'adjustment', amount, description, priority: defaultPriority, expiresAt: null } as const;
  const idempotencyKey = `refund-reversed:${refundId}`;
  const { entry, repeated } = await postGrant(tx, { ...grant, accountId, idempotencyKey, now });
  if (repeated) return nothing;
  const data = { account_id: accountId, entry_id: entry.id, amount, expires_at: null };
  return { tokens: amount, events: [newEvent(tokensGranted, data, { accountId, occurredAt: now, traceparent })] };
}

async function lockOwnHold(tx: Sql, { holdId, accountId }: Refund): Promise<HoldRow | undefined> {
  const hold = holdId === null ? undefined : await lockHold(tx, holdId);
  return hold?.account_id === accountId ? hold : undefined;
}
