import { Problem, renewRecoveryCodes } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import type { AccountDatabase } from '../store.ts';
import { lockMfaUser, putRecoveryCodes } from './mfa.store.ts';
import type { MfaCodes } from './mfa-codes.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';

export const renewRecoveryCodesEndpoint = (parts: { database: AccountDatabase; mfaCodes: MfaCodes; clock: Clock }) =>
  implement(renewRecoveryCodes, async ({ body, caller, request }) => {
    const { database, mfaCodes, clock } = parts;
    const recoveryCodes = newRecoveryCodes();
    return database.transaction(async (tx) => {
      const user = await lockMfaUser(tx, caller.id);
      if (!user?.mfa_enabled_at || !user.mfa_enrolment) throw new Problem('conflict', 'MFA is not on.');
      const now = clock.now();
      if (!(await mfaCodes.use(tx, user.mfa_enrolment, body.code, now)))
        throw new Problem('validation-error', 'body.code: is wrong, or was used before.');
      await putRecoveryCodes(tx, user.id, recoveryCodes.map(hashRecoveryCode));
      await audit(tx, {
        accountId: caller.accountId,
        action: 'mfa.recovery_codes_renewed',
        actor: actorOf(caller),
        subject: { type: 'user', id: user.id },
        request,
        now,
      });
      return { recovery_codes: recoveryCodes };
    });
  });
