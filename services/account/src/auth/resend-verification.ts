import { resendVerification } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { type Codes, codeRules, emailKeyOf } from '../codes/index.ts';
import { type MailQueue, verificationMail } from '../mail/index.ts';
import type { AccountDatabase } from '../store.ts';
import { lockUserByEmail } from '../users/index.ts';

/**
 * Does the same work and sends the same response for every address; only an address that waits for verification gets a
 * message.
 */
export const resendVerificationEndpoint = (deps: { database: AccountDatabase; codes: Codes; mail: MailQueue }) =>
  implement(resendVerification, async ({ body, request }) => {
    const { database, codes, mail } = deps;
    const code = await codes.prepare('verify_email', body.email, request);
    await database.transaction(async (tx) => {
      // The lock waits for a concurrent verification. After that verification no code is issued.
      const user = await lockUserByEmail(tx, emailKeyOf(body.email));
      const waiting = user && !user.email_verified_at && !user.disabled_at ? user : null;
      await code.issue(tx, waiting?.id ?? null);
      if (!waiting) return;
      const message = { to: waiting.email, fullName: waiting.full_name, code: code.code, minutes: codeRules.minutes };
      await mail.enqueue(tx, verificationMail(message));
    });
  });
