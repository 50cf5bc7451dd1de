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
  /** What was reserved for it; null: nothing. */
  readonly holdId: string | null;
  /** Tokens of the purchase that it gives back. */
  readonly amount: number;
  /** Of the ledger entry. */
  readonly description: string;
  readonly now: Date;
  readonly traceparent: string | null;
}

/** How many tokens were moved, and the events to append. */
interface Moved {
  readonly tokens: number;
  readonly events: readonly NewEvent[];
}
const nothing: Moved = { tokens: 0, events: [] };

const refundKey = (refundId: string) => `refund:${refundId}`;

/** Takes the tokens of a purchase that was paid back: those that are held for it, else as many as can still be had. */
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

/** Held and taken at once, so that whoever follows the events sees it as any other. */
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

/** Releases what was held for a refund that came to nothing. */
export async function releaseRefund(tx: Sql, refund: Refund): Promise<Moved> {
  const hold = await lockOwnHold(tx, refund);
  if (hold?.status !== 'pending') return nothing;
  const { event } = await voidHold(tx, hold, refund);
  return { tokens: 0, events: [event] };
}

/** Grants again what a refund took that the bank sent back. Granted as new: of a grant there is never more than before. */
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
