import { tokensHeld } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import { type NewEvent, newEvent } from '@attribution/messaging';
import { captureHold } from './capture-hold.ts';
import { findPurchaseGrants, type PurchaseGrant } from './grant.store.ts';
import { type HoldRow, insertHoldOf, type NewHold } from './hold.store.ts';
import { type BalanceRow, lockBalance, type NewEntry } from './ledger.store.ts';
import { voidHold } from './void-hold.ts';

/** The number of tokens moved, and the events to append. */
export interface Moved {
  readonly tokens: number;
  readonly events: readonly NewEvent[];
}
export const nothing: Moved = { tokens: 0, events: [] };

export const openTokens = (grants: readonly PurchaseGrant[]) => grants.reduce((sum, { open }) => sum + open, 0);

/** The nth key of something that takes several rows. The first is the key itself. */
export const partKey = (key: string, n: number) => (n === 0 ? key : `${key}+${n}`);

/** Reserves tokens of a purchase, by one hold for each of its grants that has some. The first stands for all of them. */
export async function reservePurchase(
  tx: Sql,
  grants: readonly PurchaseGrant[],
  hold: NewHold,
): Promise<readonly HoldRow[]> {
  const made: HoldRow[] = [];
  let left = hold.amount;
  for (const { entry_id, open } of grants) {
    const amount = Math.min(left, open);
    if (amount <= 0) continue;
    const [first] = made;
    const idempotencyKey = partKey(hold.idempotencyKey, made.length);
    const part = first ? { ...hold, id: newId('token_hold'), idempotencyKey, partOf: first.id } : hold;
    made.push(await insertHoldOf(tx, entry_id, { ...part, amount }));
    left -= amount;
  }
  return made;
}

/** Reserves as many tokens of a purchase as are unspent, and at most this amount. The balance must be locked. */
export async function reserveUnspent(
  tx: Sql,
  { posted, held }: BalanceRow,
  hold: Omit<NewHold, 'id'> & { readonly paymentId: string; readonly traceparent: string | null },
): Promise<{ readonly holds: readonly HoldRow[]; readonly events: readonly NewEvent[] }> {
  const { accountId, paymentId, now, traceparent } = hold;
  const grants = await findPurchaseGrants(tx, accountId, paymentId);
  const amount = Math.min(hold.amount, openTokens(grants), Number(posted - held));
  const holds = await reservePurchase(tx, grants, { ...hold, id: newId('token_hold'), amount });
  const context = { accountId, occurredAt: now, traceparent };
  const events = holds.map(({ id, amount: part }) =>
    newEvent(tokensHeld, { account_id: accountId, hold_id: id, amount: Number(part) }, context),
  );
  return { holds, events };
}

/** Takes at most this amount from pending holds, one entry for each, and releases the rest. All must be locked. */
export async function captureUpTo(
  tx: Sql,
  {
    holds,
    balance,
    amount,
    entry,
    now,
    traceparent,
  }: {
    readonly holds: readonly HoldRow[];
    readonly balance: BalanceRow;
    readonly amount: number;
    /** Consumers of the events see such a capture like any other. */
    readonly entry: Pick<NewEntry, 'kind' | 'description' | 'idempotencyKey'>;
    readonly now: Date;
    readonly traceparent: string | null;
  },
): Promise<Moved> {
  const events: NewEvent[] = [];
  let tokens = 0;
  let current = balance;
  for (const [n, hold] of holds.entries()) {
    const taken = Math.min(Number(hold.amount), amount - tokens);
    if (taken <= 0) {
      events.push((await voidHold(tx, hold, { now, traceparent })).event);
      continue;
    }
    const keyed = { ...entry, idempotencyKey: partKey(entry.idempotencyKey, n) };
    const captured = { hold, balance: current, amount: taken, entry: keyed, now, traceparent };
    events.push((await captureHold(tx, captured)).event);
    current = { ...current, posted: current.posted - BigInt(taken), last_seq: current.last_seq + 1n };
    tokens += taken;
  }
  return { tokens, events };
}

/** Takes as many tokens of a purchase as are unspent, and at most this amount, by one entry for each of its grants. */
export async function takeUnspent(
  tx: Sql,
  {
    amount,
    entry,
    ...purchase
  }: {
    readonly accountId: string;
    readonly paymentId: string;
    readonly amount: number;
    readonly entry: Pick<NewEntry, 'kind' | 'description' | 'idempotencyKey'>;
    readonly now: Date;
    readonly traceparent: string | null;
  },
): Promise<Moved> {
  const balance = amount > 0 ? await lockBalance(tx, purchase.accountId) : undefined;
  if (!balance) return nothing;
  const { description, idempotencyKey } = entry;
  const hold = { ...purchase, amount, description, idempotencyKey, expiresAt: purchase.now };
  const { holds, events: held } = await reserveUnspent(tx, balance, hold);
  const { tokens, events } = await captureUpTo(tx, { ...purchase, holds, balance, amount, entry });
  return { tokens, events: [...held, ...events] };
}
