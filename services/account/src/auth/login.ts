import { login, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { emailKeyOf } from '../codes/index.ts';
import type { Hasher } from '../passwords/index.ts';
import { type Sessions, wrongCredentials } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUserByEmail } from '../users/index.ts';

/** An unknown address and a wrong password cost and say the same; anything more is told to the password's owner alone. */
export const loginEndpoint = (parts: { database: AccountDatabase; hasher: Hasher; sessions: Sessions }) =>
  implement(login, async ({ body, request }) => {
    const { database, hasher, sessions } = parts;
    const user = await findUserByEmail(database, emailKeyOf(body.email));
    const right = await hasher.verifyPassword(body.password, user?.password_hash);
    if (!user || !right) throw wrongCredentials();
    if (user.disabled_at) throw new Problem('forbidden', 'This user is disabled.');
    if (!user.email_verified_at) throw new Problem('forbidden', 'The e-mail address is not verified yet.');
    return sessions.enter(user, await sessions.chooseAccount(user.id), request);
  });
