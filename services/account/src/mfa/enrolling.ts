import type { Principal, Verifier } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import { type Entrance, othersOf, readEntrance, requireEntrance, requireOpenSession } from '../sessions/index.ts';
import type { Tx } from '../store.ts';
import { lockUser } from './mfa.store.ts';

/** The person who sets up MFA: either signed in, or logging in to an account that requires MFA first. */
type Enrolling =
  | { readonly userId: string; readonly entrance: Entrance; readonly session?: never }
  | { readonly userId: string; readonly session: Principal; readonly entrance?: never };

export function enrollingPerson(
  verifier: Verifier,
  caller: Principal | undefined,
  setupToken: string | undefined,
): Enrolling {
  if (setupToken !== undefined) {
    const entrance = readEntrance(verifier, 'mfa-setup+jwt', setupToken);
    if (!entrance) throw new Problem('unauthorized', 'body.setup_token: is no valid setup token. Log in again.');
    return { userId: entrance.userId, entrance };
  }
  if (!caller) throw new Problem('unauthorized', 'Sign in, or give the setup_token of a login.');
  return { userId: caller.id, session: caller };
}

/**
 * Locks the user and checks that the session or the entrance is still valid. Throws `unauthorized`, or `conflict` when
 * MFA is already on.
 */
export async function lockEnrolling(tx: Tx, { userId, entrance, session }: Enrolling) {
  const user = await lockUser(tx, userId);
  if (!user) throw new Problem('unauthorized', 'This user is disabled or does not exist any more.');
  const signedInAt = session ? (await requireOpenSession(tx, session)).signed_in_at : entrance.signedInAt;
  const place = entrance && (await requireEntrance(tx, entrance));
  if (user.mfa_on) throw new Problem('conflict', 'MFA is on already: turn it off first.');
  // The token of a login exists because its password was right.
  return { user, place, signedInAt: signedInAt ?? ('now' as const) };
}

export const accountOf = ({ entrance, session }: Enrolling): string =>
  entrance ? entrance.accountId : session.accountId;

/** The sessions that have not passed MFA, which end when MFA is turned on. */
export const unprovenSessions = ({ userId, session }: Enrolling) => (session ? othersOf(session) : { user_id: userId });
