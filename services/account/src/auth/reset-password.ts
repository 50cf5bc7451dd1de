import { resetPassword } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import type { Codes } from '../codes/index.ts';
import type { Hasher } from '../passwords/index.ts';
import { endSessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { setPassword } from '../users/index.ts';
import type { CheckNewPassword } from './new-password.ts';

export const resetPasswordEndpoint = (parts: {
  database: AccountDatabase;
  codes: Codes;
  hasher: Hasher;
  clock: Clock;
  checkNewPassword: CheckNewPassword;
}) =>
  implement(resetPassword, async ({ body }) => {
    const { database, codes, hasher, clock } = parts;
    // Before the code is looked at: a refused password neither counts nor spends it.
    parts.checkNewPassword(body.new_password, 'body.new_password');
    const code = await codes.check('reset_password', body.email, body.code);
    const passwordHash = await hasher.hashPassword(body.new_password);
    await database.transaction(async (tx) => {
      await code.spend(tx);
      const now = clock.now();
      await setPassword(tx, code.userId, passwordHash, now);
      await endSessions(tx, { user_id: code.userId }, 'password_reset', now);
    });
  });
