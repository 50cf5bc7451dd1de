import { accountClosed, accountPurged, type EventType } from '@attribution/contracts';
import { on } from '@attribution/messaging';
import { db, type Tx } from '../store.ts';

async function close(tx: Tx, accountId: string, closedAt: Date): Promise<void> {
  await db(tx)
    .insertInto('closed_accounts')
    .values({ account_id: accountId, closed_at: closedAt })
    .onConflict((again) => again.doNothing())
    .execute();
}

/** Devices of an account that is closed, or no longer exists, are treated as suspended. */
export const onAccountEnds = [
  on(accountClosed, (tx: Tx, { data, occurredAt }) => close(tx, data.account_id, occurredAt)),
  on(accountPurged, (tx: Tx, { data, occurredAt }) => close(tx, data.account_id, occurredAt)),
];

/** The events that it handles. */
export const accountEnds: readonly EventType[] = [accountClosed, accountPurged];
