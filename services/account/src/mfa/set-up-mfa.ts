import type { Verifier } from '@attribution/auth';
import { Problem, setUpMfa } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { enrollingPerson } from './enrolling.ts';
import { lockMfaUser, putEnrolment } from './mfa.store.ts';
import type { MfaCodes } from './mfa-codes.ts';
import { newTotpSecret, otpauthUri } from './totp.ts';

/** Nothing is asked for until the secret is proven. */
export const setUpMfaEndpoint = (parts: {
  database: AccountDatabase;
  verifier: Verifier;
  mfaCodes: MfaCodes;
  clock: Clock;
}) =>
  implement(setUpMfa, async ({ body, caller }) => {
    const { userId } = enrollingPerson(parts.verifier, caller, body?.setup_token);
    const secret = newTotpSecret();
    return parts.database.transaction(async (tx) => {
      const user = await lockMfaUser(tx, userId);
      if (!user || user.disabled_at)
        throw new Problem('unauthorized', 'This user is disabled or does not exist any more.');
      if (user.mfa_enabled_at) throw new Problem('conflict', 'MFA is on already: turn it off first.');
      await putEnrolment(tx, userId, parts.mfaCodes.seal(userId, secret), parts.clock.now());
      return { secret, otpauth_uri: otpauthUri(secret, user.email) };
    });
  });
