import type { Verifier } from '@attribution/auth';
import { setUpMfa } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { enrollingPerson, lockEnrolling } from './enrolling.ts';
import { putEnrolment } from './mfa.store.ts';
import type { MfaCodes } from './mfa-codes.ts';
import { newTotpSecret, otpauthUri } from './totp.ts';

/** MFA is not required at login until the secret is confirmed. */
export const setUpMfaEndpoint = (deps: {
  database: AccountDatabase;
  verifier: Verifier;
  mfaCodes: MfaCodes;
  clock: Clock;
}) =>
  implement(setUpMfa, async ({ body, caller }) => {
    const enrolling = enrollingPerson(deps.verifier, caller, body?.setup_token);
    const { userId } = enrolling;
    const secret = newTotpSecret();
    return deps.database.transaction(async (tx) => {
      const { user } = await lockEnrolling(tx, enrolling);
      await putEnrolment(tx, userId, deps.mfaCodes.seal(userId, secret), deps.clock.now());
      return { secret, otpauth_uri: otpauthUri(secret, user.email) };
    });
  });
