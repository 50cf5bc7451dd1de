import { tokensExpired } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type NewEvent, newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import type { AccountDatabase } from '../store.ts';
import { findDueAccounts, takeExpiredTokens } from './grant.store.ts';
import { findDueHolds, lockHold, resolveHold } from './hold.store.ts';
import { type BalanceRow, insertEntry, lockBalance } from './ledger.store.ts';

interface Dependencies {
  readonly database: AccountDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}
const batch = 100;

/** Releases the tokens of expired holds. */
export async function expireHolds({ database, outbox, clock }: Dependencies): Promise<void> {
  for (let due = batch; due === batch; ) {
    const now = clock.now();
    const holds = await findDueHolds(database, now, batch);
    due = holds.length;
    for (const { id } of holds) {
      await database.sqlTransaction(async (tx) => {
        const { hold } = (await lockHold(tx, id)) ?? {};
        if (hold?.status !== 'pending') return; // A concurrent request has resolved the hold.
        await resolveHold(tx, id, { status: 'expired', now });
        const data = { account_id: hold.account_id, amount: Number(hold.amount), of: { hold_id: id } };
        await outbox.append(tx, newEvent(tokensExpired, data, { accountId: hold.account_id, occurredAt: now }));
      });
    }
  }
}

/** Takes back what remains of expired grants. Tokens that a hold has reserved stay until the hold is resolved. */
export async function expireGrants({ database, outbox, clock }: Dependencies): Promise<void> {
  for (let due = batch; due === batch; ) {
    const now = clock.now();
    const accounts = await findDueAccounts(database, now, batch);
    due = accounts.length;
    for (const { account_id } of accounts) {
      await database.sqlTransaction(async (tx) => {
        const balance = await lockBalance(tx, account_id);
        if (balance) await outbox.append(tx, ...(await takeBackExpired(tx, balance, now)).events);
      });
    }
  }
}

/**
 * Takes back expired grants of one account, whose balance is locked. Returns the new balance, and the events to
 * append.
 */
export async function takeBackExpired(tx: Sql, balance: BalanceRow, now: Date) {
  const { account_id } = balance;
  const events: NewEvent[] = [];
  let current = balance;
  for (const { entry_id, taken } of await takeExpiredTokens(tx, balance, now)) {
    const { balance_after, seq } = await insertEntry(tx, current, {
      kind: 'expiry',
      amount: -taken,
      description: 'Tokens that ran out',
      // Contains the sequence number, because a grant is taken back in several steps when holds have reserved some of
      // it.
      idempotencyKey: `expiry:${entry_id}:${current.last_seq}`,
      now,
    });
    current = { ...current, posted: balance_after, last_seq: seq };
    const data = { account_id, amount: Number(taken), of: { entry_id } };
    events.push(newEvent(tokensExpired, data, { accountId: account_id, occurredAt: now }));
  }
  return { balance: current, events };
}
