import { login, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { emailKeyOf } from '../codes/index.ts';
import type { Hasher } from '../passwords/index.ts';
import { type Refusals, type Sessions, wrongCredentials } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUserByEmail } from '../users/index.ts';

/** An unknown address and a wrong password cost and say the same; anything more is told to the password's owner alone. */
export const loginEndpoint = (parts: {
  database: AccountDatabase;
  hasher: Hasher;
  sessions: Sessions;
  refusals: Refusals;
}) =>
  implement(login, async ({ body, request }) => {
    const { database, hasher, sessions, refusals } = parts;
    const emailKey = emailKeyOf(body.email);
    const user = await findUserByEmail(database, emailKey);
    const right = await hasher.verifyPassword(body.password, user?.password_hash);
    if (!user || !right) {
      const reason = user ? 'wrong_password' : 'unknown_address';
      await refusals.record({ action: 'session.opened', reason, userId: user?.id ?? null, emailKey, request });
      throw wrongCredentials();
    }
    const [reason, detail] = refusalOf(user) ?? [];
    if (reason !== undefined) {
      await refusals.record({ action: 'session.opened', reason, userId: user.id, proven: true, request });
      throw new Problem('forbidden', detail);
    }
    return sessions.enter(user, request);
  });

function refusalOf(user: { disabled_at: Date | null; email_verified_at: Date | null }) {
  if (user.disabled_at) return ['user_disabled', 'This user is disabled.'] as const;
  if (!user.email_verified_at) return ['email_not_verified', 'The e-mail address is not verified yet.'] as const;
  return undefined;
}
