import { tokensVoided } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type NewEvent, newEvent } from '@attribution/messaging';
import { type HoldRow, resolveHold } from './hold.store.ts';

/** Releases the tokens of a pending hold. The balance must be locked. Returns the hold, and the event to append. */
export async function voidHold(
  tx: Sql,
  { id, account_id, amount }: HoldRow,
  { now, traceparent }: { readonly now: Date; readonly traceparent: string | null },
): Promise<{ voided: HoldRow; event: NewEvent }> {
  const voided = await resolveHold(tx, id, { status: 'voided', now });
  const data = { account_id, hold_id: id, amount: Number(amount) };
  return { voided, event: newEvent(tokensVoided, data, { accountId: account_id, occurredAt: now, traceparent }) };
}
