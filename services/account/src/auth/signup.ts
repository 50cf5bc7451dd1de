import { accountCreated, Problem, signup, tokensGranted } from '@attribution/contracts';
import { isUniqueViolation } from '@attribution/database';
import { newId } from '@attribution/ids';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { findPlan, insertAccount } from '../accounts/index.ts';
import { audit, person } from '../audit/index.ts';
import { type Codes, codeRules, emailKeyOf } from '../codes/index.ts';
import { postGrant } from '../ledger/index.ts';
import { type MailQueue, verificationMail } from '../mail/index.ts';
import { type Hasher, partiesOf } from '../passwords/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUserByEmail, insertUser } from '../users/index.ts';
import type { CheckNewPassword } from './new-password.ts';

/** The account type of every sign-up. Other types are set up by us. */
const accountType = 'network';
/** The free grant is used up before purchased tokens. */
const freeGrantPriority = 10;

export const signupEndpoint = (deps: {
  database: AccountDatabase;
  outbox: Outbox;
  hasher: Hasher;
  codes: Codes;
  mail: MailQueue;
  clock: Clock;
  checkNewPassword: CheckNewPassword;
}) =>
  implement(signup, async ({ body, request }) => {
    const { database, outbox, hasher, codes, mail, clock } = deps;
    deps.checkNewPassword(body.password, 'body.password', body.email);
    const emailKey = emailKeyOf(body.email);
    if (await findUserByEmail(database, emailKey)) throw addressTaken();

    const [passwordHash, code] = await Promise.all([
      hasher.hashPassword(body.password, partiesOf({ request, emailKey })),
      codes.prepare('verify_email', body.email, request),
    ]);
    const userId = newId('user');
    const accountId = newId('account');
    const now = clock.now();
    const name = body.full_name;

    await database
      .transaction(async (tx) => {
        await insertUser(tx, { id: userId, email: body.email, emailKey, fullName: name, passwordHash, now });
        await insertAccount(tx, { id: accountId, name, accountType, ownerId: userId, now });
        const free = await findPlan(tx, 'free');
        const { entry } = await postGrant(tx, {
          accountId,
          kind: 'grant',
          amount: free.tokens,
          description: `${free.name} plan`,
          idempotencyKey: 'signup',
          priority: freeGrantPriority,
          expiresAt: null,
          now,
        });
        await code.issue(tx, userId);
        await mail.enqueue(
          tx,
          verificationMail({ to: body.email, fullName: name, code: code.code, minutes: codeRules.minutes }),
        );
        await audit(tx, {
          accountId,
          action: 'account.created',
          actor: person(userId),
          subject: { type: 'account', id: accountId },
          details: { account_type: accountType },
          request,
          now,
        });
        const data = { account_id: accountId, name, account_type: accountType, owner_user_id: userId };
        const context = { accountId, occurredAt: now, traceparent: request.traceparent };
        await outbox.append(
          tx,
          newEvent(accountCreated, data, context),
          newEvent(
            tokensGranted,
            { account_id: accountId, entry_id: entry.id, amount: free.tokens, expires_at: null },
            context,
          ),
        );
      })
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? addressTaken() : error;
      });

    return {
      user_id: userId,
      account_id: accountId,
      verification: {
        method: 'email_code',
        email: body.email,
        code_length: codeRules.length,
        code_charset: 'digits',
        expires_in: codeRules.minutes * 60,
      } as const,
    };
  });

const addressTaken = () => new Problem('conflict', 'body.email: there is a user with this address already.');
