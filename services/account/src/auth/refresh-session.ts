import { Problem, refreshSession } from '@attribution/contracts';
import { type Clock, implement, type RequestContext } from '@attribution/service';
import { audit, nobody } from '../audit/index.ts';
import {
  endSessions,
  findMembership,
  findRefreshToken,
  readRefreshToken,
  type Sessions,
  sameHash,
  touchSession,
  useRefreshToken,
  wireSessionId,
} from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';

export const refreshSessionEndpoint = (parts: { database: AccountDatabase; sessions: Sessions; clock: Clock }) =>
  implement(refreshSession, async ({ body, request }) => {
    const { database, sessions, clock } = parts;
    const presented = readRefreshToken(body.refresh_token);
    const tokens = presented && (await database.transaction((tx) => exchange(tx, presented)));
    if (!tokens)
      throw new Problem('unauthorized', 'The refresh token is unknown, expired or was used before. Log in again.');
    return tokens;

    /** Returns rather than throws, so that the end of a session whose token came twice is committed. */
    async function exchange(tx: Tx, { id, hash }: { id: string; hash: string }) {
      const now = clock.now();
      const token = await findRefreshToken(tx, id);
      if (!token || !sameHash(token.hash, hash)) return undefined;
      const { session_id: sessionId, user_id: userId, account_id: accountId } = token;
      if (!(await useRefreshToken(tx, id, now))) {
        await endFamily(tx, { sessionId, accountId, now, request });
        return undefined;
      }
      if (token.expires_at <= now || token.user_disabled) return undefined;
      // The membership is read behind the session's lock: whatever changes it ends the session as well.
      if (!(await touchSession(tx, sessionId, now))) return undefined;
      const membership = await findMembership(tx, userId, accountId);
      if (membership?.status !== 'active' || membership.account.status === 'closed') return undefined;
      return sessions.issueTokens(tx, membership, membership.account.account_type_key, sessionId);
    }
  });

interface Family {
  readonly sessionId: string;
  readonly accountId: string;
  readonly now: Date;
  readonly request: RequestContext;
}

/** Either use may have been a thief's. Told once: what comes after the end changes nothing. */
async function endFamily(tx: Tx, { sessionId, accountId, now, request }: Family): Promise<void> {
  const reason = 'refresh_token_reused';
  if ((await endSessions(tx, { id: sessionId }, reason, now)) === 0) return;
  await audit(tx, {
    accountId,
    action: 'session.ended',
    actor: nobody,
    subject: { type: 'session', id: wireSessionId(sessionId) },
    details: { reason },
    request,
    now,
  });
}
