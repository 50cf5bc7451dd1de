import { acceptInvitation, Problem, userJoined } from '@attribution/contracts';
import { isUniqueViolation } from '@attribution/database';
import { newId } from '@attribution/ids';
import { newEvent } from '@attribution/messaging';
import { implement } from '@attribution/service';
import { findAccount, lockAccount } from '../accounts/index.ts';
import { audit, person } from '../audit/index.ts';
import type { CheckNewPassword } from '../auth/index.ts';
import { type Hasher, partiesOf } from '../passwords/index.ts';
import { findMembership, lockSignIn, type Sessions, sessionEnded } from '../sessions/index.ts';
import type { Tx } from '../store.ts';
import { findUserByEmail, insertUser, lockUserByEmail } from '../users/index.ts';
import type { Inviting } from './create-invitation.ts';
import {
  acceptInvitationRow,
  findInvitationByToken,
  insertMembership,
  lockInvitationByToken,
} from './invitation.store.ts';
import { hashInvitationToken } from './invitation.ts';
import { requireActive, requireInvited, requirePending } from './invited.ts';

/** The link proves the address, so a new user is verified at once. */
export const acceptInvitationEndpoint = (
  deps: Pick<Inviting, 'database' | 'outbox' | 'clock'> & {
    readonly hasher: Hasher;
    readonly sessions: Sessions;
    readonly checkNewPassword: CheckNewPassword;
  },
) =>
  implement(acceptInvitation, async ({ body, caller, request }) => {
    const { database, outbox, clock, sessions } = deps;
    const hash = hashInvitationToken(body.token);
    if (body.password !== undefined) deps.checkNewPassword(body.password, 'body.password');
    const {
      email,
      email_key: emailKey,
      account_id: accountId,
    } = requirePending(await findInvitationByToken(database.prisma, hash), clock.now());
    const newcomer = caller ? undefined : await prepareNewcomer();
    return database
      .transaction(async (tx) => {
        const now = clock.now();
        // The user is locked first. A password reset then either ends the session that is opened here, or has already
        // ended the caller's.
        const invited = await lockUserByEmail(tx, emailKey);
        const account = await lockAccount(tx, accountId);
        const signIn = caller && (await lockSignIn(tx, caller, now));
        if (caller && !signIn) throw sessionEnded();
        const invitation = requirePending(await lockInvitationByToken(tx, hash), now);
        requireActive(account);
        const user = requireInvited(invited, caller) ?? (await addNewcomer(tx, now));
        if (await findMembership(tx, user.id, accountId))
          throw new Problem('conflict', 'You are a user of this account already.');
        await insertMembership(tx, user.id, invitation, now);
        await acceptInvitationRow(tx, invitation.id, user.id, now);
        await audit(tx, {
          accountId,
          action: 'user.joined',
          actor: person(user.id),
          subject: { type: 'user', id: user.id },
          details: { invitation_id: invitation.id },
          request,
          now,
        });
        const data = { account_id: accountId, user_id: user.id };
        const context = { accountId, occurredAt: now, traceparent: request.traceparent };
        await outbox.append(tx, newEvent(userJoined, data, context));
        const membership = await findMembership(tx, user.id, accountId);
        if (!membership) throw new Error('The membership is not there');
        return sessions.admit(tx, { user, membership }, { via: 'invitation', request, ...(signIn && { signIn }) });
      })
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? new Problem('conflict', 'There is a user with this address by now.') : error;
      });

    /**
     * Refuses whatever it can before the slow hash. The transaction decides again, with everything locked. Undefined when
     * there is a user with the address already, whom the transaction refuses.
     */
    async function prepareNewcomer() {
      const [account, known] = await Promise.all([
        findAccount(database.prisma, accountId),
        findUserByEmail(database, emailKey),
      ]);
      requireActive(account);
      if (known) return undefined;
      const { full_name: fullName, password } = body;
      if (fullName === undefined) throw new Problem('validation-error', 'body.full_name: is required of a newcomer.');
      if (password === undefined) throw new Problem('validation-error', 'body.password: is required of a newcomer.');
      deps.checkNewPassword(password, 'body.password', email);
      const parties = partiesOf({ request, accountId, emailKey });
      return { fullName, passwordHash: await deps.hasher.hashPassword(password, parties) };
    }

    async function addNewcomer(tx: Tx, now: Date) {
      if (!newcomer) throw new Problem('conflict', 'The user with this address was deleted just now: accept again.');
      return insertUser(tx, { id: newId('user'), email, emailKey, ...newcomer, verified: true, now });
    }
  });
