import type { Verifier } from '@attribution/auth';
import { Problem, verifyMfaChallenge } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import { audit, person } from '../audit/index.ts';
import { readEntrance, requireEntrance, type Sessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { attemptsSince, countAttempt, lockMfaUser, useChallenge } from './mfa.store.ts';
import type { MfaCodes } from './mfa-codes.ts';

/** Of one challenge (decision 16), and of one user in 15 minutes: whoever knows the password could ask for more challenges. */
const attempts = { challenge: 5, user: 20 };
const window = 15 * 60 * 1000;

/** Counts first and judges then, so that parallel guesses are all counted. */
export const verifyMfaChallengeEndpoint = (parts: {
  database: AccountDatabase;
  verifier: Verifier;
  mfaCodes: MfaCodes;
  sessions: Sessions;
  clock: Clock;
}) =>
  implement(verifyMfaChallenge, async ({ body, request }) => {
    const { database, verifier, mfaCodes, sessions, clock } = parts;
    const entrance = readEntrance(verifier, 'mfa-challenge+jwt', body.challenge_token);
    if (!entrance) throw spent();
    const { id: challengeId, userId, accountId, expiresAt } = entrance;
    const now = clock.now();

    await database.transaction(async (tx) => {
      const since = new Date(now.getTime() - window);
      const open = (await attemptsSince(tx, userId, since)) < attempts.user;
      if (!open || !(await countAttempt(tx, { challengeId, userId, expiresAt, limit: attempts.challenge })))
        throw spent();
    });

    const session = await database.transaction(async (tx) => {
      const user = await lockMfaUser(tx, userId);
      if (!user?.mfa_enrolment || !user.mfa_enabled_at || user.disabled_at) throw spent();
      if (!(await mfaCodes.use(tx, user.mfa_enrolment, body.code, now))) return undefined;
      if (!(await useChallenge(tx, challengeId, now))) throw spent();
      return sessions.open(tx, user, await requireEntrance(tx, entrance, user), request);
    });
    if (session) return session;
    await database.transaction((tx) =>
      audit(tx, {
        accountId,
        action: 'session.opened',
        outcome: 'refused',
        actor: person(userId),
        subject: { type: 'user', id: userId },
        details: { reason: 'wrong MFA code' },
        request,
        now,
      }),
    );
    throw new Problem('validation-error', 'body.code: is wrong, or was used before.');
  });

const spent = () =>
  new Problem('unauthorized', 'The challenge is unknown, expired, used or has no attempts left. Log in again.');
