import { tokensCaptured } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type NewEvent, newEvent } from '@attribution/messaging';
import { burn, takeFrom } from './grant.store.ts';
import { type HoldRow, resolveHold } from './hold.store.ts';
import { type BalanceRow, insertEntry, type NewEntry } from './ledger.store.ts';

interface Capture {
  /** Pending. The balance is locked. */
  readonly hold: HoldRow;
  readonly balance: BalanceRow;
  /** At most the amount of the hold; the remainder is released. */
  readonly amount: number;
  readonly entry: Pick<NewEntry, 'kind' | 'description' | 'idempotencyKey'>;
  readonly now: Date;
  readonly traceparent: string | null;
}

/** Spends the tokens that a hold has reserved. Returns the hold, and the event to append. */
export async function captureHold(
  tx: Sql,
  { hold, balance, amount, entry, now, traceparent }: Capture,
): Promise<{ captured: HoldRow; event: NewEvent }> {
  const { id, account_id, grant_id } = hold;
  // The hold is resolved first, which releases its reservation, so that the entry can take those tokens.
  const captured = await resolveHold(tx, id, { status: 'captured', captured: amount, now });
  await insertEntry(tx, balance, { ...entry, amount: BigInt(-amount), now });
  if (grant_id === null) await burn(tx, account_id, BigInt(amount));
  else await takeFrom(tx, grant_id, BigInt(amount));
  const data = { account_id, hold_id: id, amount };
  return { captured, event: newEvent(tokensCaptured, data, { accountId: account_id, occurredAt: now, traceparent }) };
}
