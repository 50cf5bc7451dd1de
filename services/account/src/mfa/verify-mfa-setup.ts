import type { Verifier } from '@attribution/auth';
import { Problem, verifyMfaSetup } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import { audit, person } from '../audit/index.ts';
import { requireEntrance, type Sessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { enrollingPerson } from './enrolling.ts';
import { confirmEnrolment, lockMfaUser, putRecoveryCodes } from './mfa.store.ts';
import type { MfaCodes } from './mfa-codes.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';

export const verifyMfaSetupEndpoint = (parts: {
  database: AccountDatabase;
  verifier: Verifier;
  mfaCodes: MfaCodes;
  sessions: Sessions;
  clock: Clock;
}) =>
  implement(verifyMfaSetup, async ({ body, caller, request }) => {
    const { database, verifier, mfaCodes, sessions, clock } = parts;
    const { userId, entrance } = enrollingPerson(verifier, caller, body.setup_token);
    const recoveryCodes = newRecoveryCodes();
    return database.transaction(async (tx) => {
      const user = await lockMfaUser(tx, userId);
      if (!user || user.disabled_at)
        throw new Problem('unauthorized', 'This user is disabled or does not exist any more.');
      if (user.mfa_enabled_at || !user.mfa_enrolment)
        throw new Problem('conflict', user.mfa_enabled_at ? 'MFA is on already.' : 'Begin with POST /v2/mfa/setup.');
      const now = clock.now();
      if (!(await mfaCodes.useTotp(tx, user.mfa_enrolment, body.code, now)))
        throw new Problem('validation-error', 'body.code: is not the code that the authenticator shows.');
      const enrolled = await confirmEnrolment(tx, userId, now);
      await putRecoveryCodes(tx, userId, recoveryCodes.map(hashRecoveryCode));
      const accountId = entrance?.accountId ?? caller?.accountId ?? null;
      await audit(tx, {
        accountId,
        action: 'mfa.enabled',
        actor: person(userId),
        subject: { type: 'user', id: userId },
        request,
        now,
      });
      if (!entrance) return { recovery_codes: recoveryCodes };
      const entered = await requireEntrance(tx, entrance, enrolled);
      return { ...(await sessions.open(tx, enrolled, entered, request)), recovery_codes: recoveryCodes };
    });
  });
