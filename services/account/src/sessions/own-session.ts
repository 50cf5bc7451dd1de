import { Problem } from '@attribution/contracts';
import type { Tx } from '../store.ts';
import { sessionEnd } from './refresh-token.ts';
import { lockSession, type SignIn } from './session.store.ts';

export const sessionEnded = () => new Problem('unauthorized', 'This session has ended. Log in again.');

interface Caller {
  readonly id: string;
  readonly sessionId: string | null;
}

/**
 * Required for anything that outlives the caller's token, because the token stays valid for a while after its session
 * has ended. Returns the sign-in of the session. Throws `unauthorized`.
 */
export async function requireOpenSession(tx: Tx, { id, sessionId }: Caller): Promise<SignIn> {
  const signIn = await lockSession(tx, sessionId, id);
  if (!signIn) throw sessionEnded();
  return signIn;
}

/**
 * The sign-in of the caller's session, which another session may continue. Undefined when the session has ended, or its
 * days are over: an access token from before then still works for a while.
 */
export async function lockSignIn(tx: Tx, { id, sessionId }: Caller, now: Date): Promise<SignIn | undefined> {
  const signIn = await lockSession(tx, sessionId, id);
  return signIn && sessionEnd(signIn.signed_in_at) > now ? signIn : undefined;
}

/** The user's sessions except the caller's own. */
export const othersOf = ({ id, sessionId }: Caller) => ({
  user_id: id,
  ...(sessionId !== null && { NOT: { id: sessionId } }),
});
