import { login, Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { emailKeyOf } from '../codes/index.ts';
import type { Guesses } from '../guesses/index.ts';
import { type Hasher, partiesOf } from '../passwords/index.ts';
import type { Refusals, Sessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUserByEmail } from '../users/index.ts';
import { renewHash } from './renew-hash.ts';

/**
 * A wrong password and an unknown address give the same response after the same time. Only a caller with the right
 * password learns more.
 */
export const loginEndpoint = (deps: {
  database: AccountDatabase;
  hasher: Hasher;
  guesses: Guesses;
  sessions: Sessions;
  refusals: Refusals;
  clock: Clock;
}) =>
  implement(login, async ({ body, request }) => {
    const { database, hasher, guesses, sessions, refusals } = deps;
    const action = 'session.opened';
    const emailKey = emailKeyOf(body.email);
    const guess = { what: 'password', emailKey, request } as const;
    await guesses.requireBudget(guess);
    const user = await findUserByEmail(database, emailKey);
    const parties = partiesOf({ request, emailKey });
    const right = await hasher.verifyPassword(body.password, user?.password_hash, parties, (compare) =>
      guesses.count(guess, compare),
    );
    if (!user || !right) throw await wrong(user, 'wrong_password');
    for (let checked = await renewHash(deps, user, body.password, parties); ; ) {
      const [reason, detail] = refusalOf(checked) ?? [];
      if (reason !== undefined) {
        await refusals.record({ action, reason, userId: checked.id, proven: true, request });
        throw new Problem('forbidden', detail);
      }
      const entered = await sessions.enter(checked, request);
      if (entered) return entered;
      // A concurrent request changed the user after the password was checked. If the password is still the same, the
      // caller gets the reason.
      const now = await findUserByEmail(database, emailKey);
      if (now?.password_hash !== checked.password_hash) throw await wrong(now, 'password_changed');
      checked = now;
    }

    /** The only refusal for a caller without the right password, whatever the reason is. */
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
