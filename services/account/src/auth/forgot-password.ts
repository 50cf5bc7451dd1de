import { forgotPassword } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { type Codes, codeRules, emailKeyOf } from '../codes/index.ts';
import { type MailQueue, passwordResetMail } from '../mail/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUserByEmail } from '../users/index.ts';

/** Does the same work and sends the same response for every address; only a known address gets a message. */
export const forgotPasswordEndpoint = (deps: { database: AccountDatabase; codes: Codes; mail: MailQueue }) =>
  implement(forgotPassword, async ({ body, request }) => {
    const { database, codes, mail } = deps;
    const code = await codes.prepare('reset_password', body.email, request);
    const user = await findUserByEmail(database, emailKeyOf(body.email));
    const known = user && !user.disabled_at ? user : null;
    await database.transaction(async (tx) => {
      await code.issue(tx, known?.id ?? null);
      if (!known) return;
      const message = { to: known.email, fullName: known.full_name, code: code.code, minutes: codeRules.minutes };
      await mail.enqueue(tx, passwordResetMail(message));
    });
  });
