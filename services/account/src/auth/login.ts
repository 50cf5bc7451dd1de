import { login, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { emailKeyOf } from '../codes/index.ts';
import type { Hasher } from '../passwords/index.ts';
import type { Refusals, Sessions } from '../sessions/index.ts';
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
    const action = 'session.opened';
    const emailKey = emailKeyOf(body.email);
    const user = await findUserByEmail(database, emailKey);
    const right = await hasher.verifyPassword(body.password, user?.password_hash);
    if (!user || !right) throw await wrong(user, 'wrong_password');
    for (let judged = user; ; ) {
      const [reason, detail] = refusalOf(judged) ?? [];
      if (reason !== undefined) {
        await refusals.record({ action, reason, userId: judged.id, proven: true, request });
        throw new Problem('forbidden', detail);
      }
      const entered = await sessions.enter(judged, request);
      if (entered) return entered;
      // Somebody was faster: as long as the password is right, what has changed is told.
      const now = await findUserByEmail(database, emailKey);
      if (now?.password_hash !== judged.password_hash) throw await wrong(now, 'password_changed');
      judged = now;
    }

    /** The one refusal of whoever does not know the password, whatever was wrong. */
    async function wrong(known: { id: string } | null, reason: 'wrong_password' | 'password_changed') {
      const why = known ? reason : 'unknown_address';
      await refusals.record({ action, reason: why, userId: known?.id ?? null, emailKey, request });
      return new Problem('unauthorized', 'The address or the password is wrong.');
    }
  });

function refusalOf(user: { disabled_at: Date | null; email_verified_at: Date | null }) {
  if (user.disabled_at) return ['user_disabled', 'This user is disabled.'] as const;
  if (!user.email_verified_at) return ['email_not_verified', 'The e-mail address is not verified yet.'] as const;
  return undefined;
}
