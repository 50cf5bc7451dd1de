import type { Verifier } from '@attribution/auth';
import { setUpMfa } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { person } from '../audit/index.ts';
import type { Tx } from '../store.ts';
import { accountOf, enrollingPerson, lockEnrolling } from './enrolling.ts';
import type { FreshProof } from './fresh-proof.ts';
import { putEnrolment } from './mfa.store.ts';
import type { MfaCodes } from './mfa-codes.ts';
import { newTotpSecret, otpauthUri } from './totp.ts';

/**
 * MFA is not required at login until the secret is confirmed. Who confirms it proves to know the secret, which only who
 * has given a proof here gets.
 */
export const setUpMfaEndpoint = (deps: {
  verifier: Verifier;
  mfaCodes: MfaCodes;
  freshProof: FreshProof;
  clock: Clock;
}) =>
  implement(setUpMfa, async ({ body, caller, request }) => {
    const enrolling = enrollingPerson(deps.verifier, caller, body?.setup_token);
    const { userId } = enrolling;
    const secret = newTotpSecret();
    const record = {
      accountId: accountOf(enrolling),
      action: 'mfa.enabled',
      actor: person(userId),
      subject: { type: 'user', id: userId },
      request,
    };
    const decide = (tx: Tx) => lockEnrolling(tx, enrolling);
    const given = { password: body?.password };
    return deps.freshProof.require({ userId, given, record, decide }, async (tx, { user }) => {
      await putEnrolment(tx, userId, deps.mfaCodes.seal(userId, secret), deps.clock.now());
      return { secret, otpauth_uri: otpauthUri(secret, user.email) };
    });
  });
