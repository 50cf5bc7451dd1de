import { changePassword, Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import type { Guesses } from '../guesses/index.ts';
import type { Notices } from '../notices/index.ts';
import { type Hasher, partiesOf } from '../passwords/index.ts';
import { endSessions, othersOf } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUser, replacePassword } from '../users/index.ts';
import type { CheckNewPassword } from './new-password.ts';

export const changePasswordEndpoint = (deps: {
  database: AccountDatabase;
  hasher: Hasher;
  guesses: Guesses;
  notices: Notices;
  clock: Clock;
  checkNewPassword: CheckNewPassword;
}) =>
  implement(changePassword, async ({ body, caller, request }) => {
    const { database, hasher, guesses, clock } = deps;
    const user = await findUser(database.prisma, caller.id);
    if (!user) throw new Problem('unauthorized', 'This user does not exist any more.');
    deps.checkNewPassword(body.new_password, 'body.new_password', user.email);
    const record = {
      accountId: caller.accountId,
      action: 'user.password_changed',
      actor: actorOf(caller),
      subject: { type: 'user', id: user.id },
      request,
    };
    const parties = partiesOf({
      request,
      userId: user.id,
      accountId: caller.accountId,
      emailKey: user.email_key,
    });
    const guess = { what: 'password', emailKey: user.email_key, request } as const;
    await guesses.requireBudget(guess);
    const right = await hasher.verifyPassword(body.current_password, user.password_hash, parties, (compare) =>
      guesses.count(guess, compare),
    );
    if (!right) {
      const details = { reason: 'wrong_password' };
      await audit(database.prisma, { ...record, outcome: 'refused', details, now: clock.now() });
      throw new Problem('validation-error', 'body.current_password: is not your password.');
    }
    const passwordHash = await hasher.hashPassword(body.new_password, parties);
    await database.transaction(async (tx) => {
      const now = clock.now();
      if (!(await replacePassword(tx, user, passwordHash, now)))
        throw new Problem('validation-error', 'body.current_password: was changed in the meantime.');
      const ended = await endSessions(tx, othersOf(caller), 'password_changed', now);
      await audit(tx, { ...record, details: { sessions_ended: ended }, now });
      await deps.notices.tell(tx, user.id, { kind: 'password_changed' }, request);
    });
  });
