import { Problem } from '@attribution/contracts';
import type { HoldRow } from './hold.store.ts';

export const isOver = ({ expires_at }: Pick<HoldRow, 'expires_at'>, now: Date) => expires_at <= now;

/** The problem for a request to resolve a hold that is no longer pending. */
export function notPending({ id, status, expires_at }: HoldRow): Problem {
  const what = status === 'pending' ? `expired at ${expires_at.toISOString()}` : `was ${status}`;
  return new Problem('conflict', `Hold ${id} ${what} already.`);
}
