import { tokensExpired } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findDueGrants, takeRest } from './grant.store.ts';
import { findDueHolds, lockHold, resolveHold } from './hold.store.ts';
import { insertEntry, lockBalance } from './ledger.store.ts';

interface Parts {
  readonly database: AccountDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}
const batch = 100;

/** Gives back what holds had reserved whose time is over. */
export async function expireHolds({ database, outbox, clock }: Parts): Promise<void> {
  for (let due = batch; due === batch; ) {
    const now = clock.now();
    const holds = await findDueHolds(database, now, batch);
    due = holds.length;
    for (const { id } of holds) {
      await database.sqlTransaction(async (tx) => {
        const hold = await lockHold(tx, id);
        if (hold?.status !== 'pending') return; // Somebody was faster.
        await resolveHold(tx, id, { status: 'expired', now });
        const data = { account_id: hold.account_id, amount: Number(hold.amount), of: { hold_id: id } };
        await outbox.append(tx, newEvent(tokensExpired, data, { accountId: hold.account_id, occurredAt: now }));
      });
    }
  }
}

/** Takes back what is left of grants whose time is over. What a hold has reserved stays until that one is resolved. */
export async function expireGrants({ database, outbox, clock }: Parts): Promise<void> {
  for (let due = batch; due === batch; ) {
    const now = clock.now();
    const grants = await findDueGrants(database, now, batch);
    due = grants.length;
    for (const { entry_id, account_id } of grants) {
      await database.sqlTransaction(async (tx) => {
        const balance = await lockBalance(tx, account_id);
        const taken = balance ? await takeRest(tx, balance, entry_id) : 0n;
        if (!balance || taken === 0n) return;
        await insertEntry(tx, balance, {
          kind: 'expiry',
          amount: -taken,
          description: 'Tokens that ran out',
          idempotencyKey: `expiry:${entry_id}:${balance.last_seq}`, // In parts, where holds were in the way.
          now,
        });
        const data = { account_id, amount: Number(taken), of: { entry_id } };
        await outbox.append(tx, newEvent(tokensExpired, data, { accountId: account_id, occurredAt: now }));
      });
    }
  }
}
