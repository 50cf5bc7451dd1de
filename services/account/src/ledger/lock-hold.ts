import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { findHold, type HoldRow } from './hold.store.ts';
import { type BalanceRow, lockBalance } from './ledger.store.ts';

/** A hold as it is once its account's balance is locked: nobody else resolves it meanwhile. Throws `not-found`. */
export async function lockHold(tx: Sql, id: string): Promise<{ hold: HoldRow; balance: BalanceRow }> {
  const found = await findHold(tx, id);
  const balance = found && (await lockBalance(tx, found.account_id));
  const hold = balance && (await findHold(tx, id));
  if (!hold) throw Problem.notFound();
  return { hold, balance };
}

export const isOver = ({ expires_at }: HoldRow, now: Date) => expires_at <= now;

export function notPending({ id, status, expires_at }: HoldRow): Problem {
  const what = status === 'pending' ? `expired at ${expires_at.toISOString()}` : `was ${status}`;
  return new Problem('conflict', `Hold ${id} ${what} already.`);
}
