import { Problem, refreshSession } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import {
  endSessions,
  findMembership,
  findRefreshToken,
  readRefreshToken,
  type Sessions,
  sameHash,
  touchSession,
  useRefreshToken,
} from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';

export const refreshSessionEndpoint = (parts: { database: AccountDatabase; sessions: Sessions; clock: Clock }) =>
  implement(refreshSession, async ({ body }) => {
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
      const { session } = token;
      if (!(await useRefreshToken(tx, id, now))) {
        await endSessions(tx, { id: session.id }, 'refresh_token_reused', now);
        return undefined;
      }
      const dead = token.expires_at <= now || session.ended_at || session.user.disabled_at;
      if (dead || session.account.status === 'closed') return undefined;
      const membership = await findMembership(tx, session.user_id, session.account_id);
      if (membership?.status !== 'active') return undefined;
      await touchSession(tx, session.id, now);
      return sessions.issueTokens(tx, membership, session.account.account_type_key, session.id);
    }
  });
