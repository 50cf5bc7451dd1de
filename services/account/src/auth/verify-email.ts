import { Problem, verifyEmail } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import type { Codes } from '../codes/index.ts';
import type { Sessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUser, markEmailVerified } from '../users/index.ts';

export const verifyEmailEndpoint = (parts: {
  database: AccountDatabase;
  codes: Codes;
  sessions: Sessions;
  clock: Clock;
}) =>
  implement(verifyEmail, async ({ body, request }) => {
    const { database, codes, sessions, clock } = parts;
    const code = await codes.check('verify_email', body.email, body.code);
    const found = await findUser(database.prisma, code.userId);
    if (!found || found.disabled_at) throw new Problem('forbidden', 'This user is disabled.');
    const entered = await sessions.chooseAccount(found.id);

    return database.transaction(async (tx) => {
      await code.spend(tx);
      const user = await markEmailVerified(tx, found.id, clock.now());
      if (user.require_mfa || entered.account.require_mfa) return sessions.setupEnvelope(user, entered.account.id);
      return sessions.open(tx, user, entered, request);
    });
  });
