import { Problem, verifyEmail } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { type Codes, codeGone, emailKeyOf } from '../codes/index.ts';
import { lockPlace, type Refusals, type Sessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUser, markEmailVerified } from '../users/index.ts';

export const verifyEmailEndpoint = (deps: {
  database: AccountDatabase;
  codes: Codes;
  sessions: Sessions;
  refusals: Refusals;
  clock: Clock;
}) =>
  implement(verifyEmail, async ({ body, request }) => {
    const { database, codes, sessions, refusals, clock } = deps;
    const action = 'session.opened';
    const code = await codes.check('verify_email', body.email, body.code, request);
    if ('refusal' in code) {
      const { userId, reason, refusal } = code;
      await refusals.record({ action, reason, userId, emailKey: emailKeyOf(body.email), request });
      throw refusal;
    }
    const { userId } = code;
    const found = await findUser(database.prisma, userId);
    if (!found || found.disabled_at) {
      await refusals.record({ action, reason: 'user_disabled', userId, proven: true, request });
      throw disabled();
    }
    const accountId = await sessions.chooseAccount(userId, request);

    return database.transaction(async (tx) => {
      // An address is verified only once; after that the user signs in with the password. The user is locked before the
      // code, in the same order as in a resend.
      if (!(await markEmailVerified(tx, userId, clock.now()))) throw codeGone();
      await code.spend(tx);
      const place = await lockPlace(tx, userId, accountId);
      if (!place) throw disabled();
      return sessions.admit(tx, place, { via: 'email_code', request });
    });
  });

const disabled = () => new Problem('forbidden', 'This user is disabled.');
