import type { Principal, Verifier } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import { type Entrance, readEntrance } from '../sessions/index.ts';

/** Who sets MFA up: a session's person, or who logged in and must set it up first. */
export function enrollingPerson(
  verifier: Verifier,
  caller: Principal | undefined,
  setupToken: string | undefined,
): { userId: string; entrance: Entrance | undefined } {
  if (setupToken !== undefined) {
    const entrance = readEntrance(verifier, 'mfa-setup+jwt', setupToken);
    if (!entrance) throw new Problem('unauthorized', 'body.setup_token: is no valid setup token. Log in again.');
    return { userId: entrance.userId, entrance };
  }
  if (!caller) throw new Problem('unauthorized', 'Sign in, or give the setup_token of a login.');
  return { userId: caller.id, entrance: undefined };
}
