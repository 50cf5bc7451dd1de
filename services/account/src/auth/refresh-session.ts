import { Problem, refreshSession } from '@attribution/contracts';
import type { RequestContext } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { audit, unknownActor } from '../audit/index.ts';
import {
  endSessions,
  findMembership,
  findRefreshToken,
  findTokenUse,
  isSuspectReuse,
  looksLikeAccessToken,
  readRefreshToken,
  type Sessions,
  sameHash,
  sessionEnd,
  touchSession,
  useRefreshToken,
  wireSessionId,
} from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';

interface Dependencies {
  readonly database: AccountDatabase;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

export const refreshSessionEndpoint = ({ database, sessions, clock }: Dependencies) =>
  implement(refreshSession, async ({ body, request }) => {
    if (looksLikeAccessToken(body.refresh_token))
      throw new Problem('unauthorized', 'This is an access token: send the refresh token that came with it.');
    const presented = readRefreshToken(body.refresh_token);
    const tokens = presented && (await database.transaction((tx) => exchange(tx, presented)));
    if (!tokens)
      throw new Problem('unauthorized', 'The refresh token is unknown, expired or was used before. Log in again.');
    return tokens;

    /** Returns instead of throwing, so that ending a session whose token was reused is committed. */
    async function exchange(tx: Tx, { id, hash }: { id: string; hash: string }) {
      const now = clock.now();
      const token = await findRefreshToken(tx, id);
      if (!token || !sameHash(token.hash, hash)) return undefined;
      const { session_id: sessionId, signed_in_at: signedInAt, user_id: userId, account_id: accountId } = token;
      const family = { sessionId, accountId, now, request };
      if (!(await useRefreshToken(tx, id, now))) {
        const usedAt = await findTokenUse(tx, id);
        return usedAt && isSuspectReuse(usedAt, now) ? endFamily(tx, family, 'refresh_token_reused') : undefined;
      }
      if (token.expires_at <= now || sessionEnd(signedInAt) <= now) return refuse(tx, family, 'refresh_token_expired');
      if (token.user_disabled) return refuse(tx, family, 'user_disabled');
      // The membership is read after the session was locked: every change of a membership also ends its sessions.
      if (!(await touchSession(tx, sessionId, now))) return refuse(tx, family, 'session_ended');
      const membership = await findMembership(tx, userId, accountId);
      if (membership?.status !== 'active' || membership.account.status === 'closed')
        return refuse(tx, family, 'no_open_account');
      // The next login enrols (decision 48).
      const mfaRequired = token.user_requires_mfa || membership.account.require_mfa;
      if (mfaRequired && !token.mfa_passed_at) return endFamily(tx, family, 'mfa_required');
      return sessions.issueTokens(tx, membership, membership.account.account_type_key, {
        id: sessionId,
        signedInAt,
      });
    }
  });

interface Family {
  readonly sessionId: string;
  readonly accountId: string;
  readonly now: Date;
  readonly request: RequestContext;
}

/**
 * After reuse, because the first use or the second may have been a thief's; or because the session has not passed the MFA
 * that is required. Recorded once: after the session has ended, further use changes nothing.
 */
async function endFamily(
  tx: Tx,
  { sessionId, ...family }: Family,
  reason: 'refresh_token_reused' | 'mfa_required',
): Promise<undefined> {
  if ((await endSessions(tx, { id: sessionId }, reason, family.now)) === 0) return;
  await audit(tx, { ...family, action: 'session.ended', ...about(sessionId), details: { reason } });
}

/** Each refusal is recorded once, because the token is marked as used. */
async function refuse(tx: Tx, { sessionId, ...family }: Family, reason: string): Promise<undefined> {
  const action = 'session.refreshed';
  await audit(tx, { ...family, action, outcome: 'refused', ...about(sessionId), details: { reason } });
}

/** The actor is unknown because the token may have been copied. */
const about = (sessionId: string) => ({
  actor: unknownActor,
  subject: { type: 'session', id: wireSessionId(sessionId) },
});
