import { resetPassword } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { audit, person } from '../audit/index.ts';
import { type Codes, emailKeyOf } from '../codes/index.ts';
import type { Guesses } from '../guesses/index.ts';
import type { Notices } from '../notices/index.ts';
import { type Hasher, partiesOf } from '../passwords/index.ts';
import { endSessions, findMemberships, homeOf, type Refusals } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { setPassword } from '../users/index.ts';
import type { CheckNewPassword } from './new-password.ts';

export const resetPasswordEndpoint = (deps: {
  database: AccountDatabase;
  codes: Codes;
  hasher: Hasher;
  guesses: Guesses;
  refusals: Refusals;
  notices: Notices;
  clock: Clock;
  checkNewPassword: CheckNewPassword;
}) =>
  implement(resetPassword, async ({ body, request }) => {
    const { database, codes, hasher, guesses, refusals, clock } = deps;
    const action = 'user.password_reset';
    // The new password is checked before the code, because a refused password must neither count as an attempt nor use
    // up the code.
    deps.checkNewPassword(body.new_password, 'body.new_password', body.email);
    const emailKey = emailKeyOf(body.email);
    const code = await codes.check('reset_password', body.email, body.code, request);
    if ('refusal' in code) {
      const { userId, reason, refusal } = code;
      await refusals.record({ action, reason, userId, emailKey, request });
      throw refusal;
    }
    const { userId } = code;
    const passwordHash = await hasher.hashPassword(body.new_password, partiesOf({ request, emailKey }));
    await database.transaction(async (tx) => {
      await code.spend(tx);
      const now = clock.now();
      await setPassword(tx, userId, passwordHash, now);
      await guesses.forget(tx, emailKey);
      const ended = await endSessions(tx, { user_id: userId }, 'password_reset', now);
      await audit(tx, {
        accountId: homeOf(await findMemberships(tx, userId)),
        action,
        actor: person(userId),
        subject: { type: 'user', id: userId },
        details: { sessions_ended: ended },
        request,
        now,
      });
      await deps.notices.tell(tx, userId, { kind: 'password_changed' }, request);
    });
  });
