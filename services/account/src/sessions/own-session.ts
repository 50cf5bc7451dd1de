import { Problem } from '@attribution/contracts';
import type { Tx } from '../store.ts';
import { lockSession } from './session.store.ts';

export const sessionEnded = () => new Problem('unauthorized', 'This session has ended. Log in again.');

interface Caller {
  readonly id: string;
  readonly sessionId: string | null;
}

/**
 * Required for anything that outlives the caller's token, because the token stays valid for a while after its session
 * has ended. Throws `unauthorized`.
 */
export async function requireOpenSession(tx: Tx, { id, sessionId }: Caller): Promise<void> {
  if (!(await lockSession(tx, sessionId, id))) throw sessionEnded();
}

/** The user's sessions except the caller's own. */
export const othersOf = ({ id, sessionId }: Caller) => ({
  user_id: id,
  ...(sessionId !== null && { NOT: { id: sessionId } }),
});
