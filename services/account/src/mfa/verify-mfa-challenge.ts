import type { Verifier } from '@attribution/auth';
import { Problem, verifyMfaChallenge } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { unknownActor } from '../audit/index.ts';
import { readEntrance, requireEntrance, type Sessions } from '../sessions/index.ts';
import type { CodeAttempts, Refusal } from './code-attempts.ts';
import { wrongCode } from './fresh-code.ts';

export const verifyMfaChallengeEndpoint = (deps: {
  verifier: Verifier;
  codeAttempts: CodeAttempts;
  sessions: Sessions;
}) =>
  implement(verifyMfaChallenge, async ({ body, request }) => {
    const { verifier, codeAttempts, sessions } = deps;
    const entrance = readEntrance(verifier, 'mfa-challenge+jwt', body.challenge_token);
    if (!entrance) throw refuse('spent');
    const { id, userId, accountId, expiresAt } = entrance;
    const record = {
      accountId,
      action: 'session.opened',
      // The actor is unknown: a password alone does not prove who a user with MFA is.
      actor: unknownActor,
      subject: { type: 'user', id: userId },
      request,
    };
    return codeAttempts.make(
      { challenge: { id, expiresAt }, userId, code: body.code, refuse, record },
      async (tx, via) => sessions.open(tx, await requireEntrance(tx, entrance), { via, request }),
    );
  });

function refuse(why: Refusal): Problem {
  if (why === 'wrong') return wrongCode();
  return new Problem('unauthorized', 'The challenge is unknown, expired, used or has no attempts left. Log in again.');
}
