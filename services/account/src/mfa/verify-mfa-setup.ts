import type { Verifier } from '@attribution/auth';
import { Problem, verifyMfaSetup } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { audit, person } from '../audit/index.ts';
import type { Notices } from '../notices/index.ts';
import { endSessions, type Sessions, setMfaPassed } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { accountOf, enrollingPerson, lockEnrolling, unprovenSessions } from './enrolling.ts';
import { confirmEnrolment, findEnrolment, putRecoveryCodes } from './mfa.store.ts';
import type { MfaCodes } from './mfa-codes.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';

export const verifyMfaSetupEndpoint = (deps: {
  database: AccountDatabase;
  verifier: Verifier;
  mfaCodes: MfaCodes;
  sessions: Sessions;
  notices: Notices;
  clock: Clock;
}) =>
  implement(verifyMfaSetup, async ({ body, caller, request }) => {
    const { database, verifier, mfaCodes, sessions, notices, clock } = deps;
    const enrolling = enrollingPerson(verifier, caller, body.setup_token);
    const { userId, session } = enrolling;
    const recoveryCodes = newRecoveryCodes();
    const record = {
      accountId: accountOf(enrolling),
      action: 'mfa.enabled',
      actor: person(userId),
      subject: { type: 'user', id: userId },
      request,
    };
    const enabled = await database.transaction(async (tx) => {
      const { place } = await lockEnrolling(tx, enrolling);
      const enrolment = await findEnrolment(tx, userId);
      if (!enrolment) throw new Problem('conflict', 'There is nothing to prove: begin with POST /v2/mfa/setup.');
      const now = clock.now();
      if (!(await mfaCodes.useTotp(tx, enrolment, body.code, now))) {
        await audit(tx, { ...record, outcome: 'refused', details: { reason: 'wrong_mfa_code' }, now });
        return undefined;
      }
      await confirmEnrolment(tx, userId, now);
      await putRecoveryCodes(tx, userId, recoveryCodes.map(hashRecoveryCode));
      if (session?.sessionId) await setMfaPassed(tx, { id: session.sessionId, user_id: userId }, now);
      const ended = await endSessions(tx, unprovenSessions(enrolling), 'mfa_enabled', now);
      await audit(tx, { ...record, details: { sessions_ended: ended }, now });
      await notices.tell(tx, userId, { kind: 'mfa_enabled' }, request);
      if (!place) return { recovery_codes: recoveryCodes };
      const user = { ...place.user, mfa_enabled_at: now };
      const opened = await sessions.open(tx, { ...place, user }, { via: 'mfa_setup', request });
      return { ...opened, recovery_codes: recoveryCodes };
    });
    if (!enabled) throw new Problem('validation-error', 'body.code: is not the code that the authenticator shows.');
    return enabled;
  });
