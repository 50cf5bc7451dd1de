import type { Principal } from '@attribution/auth';
import { acceptInvitation, newId, Problem, userJoined } from '@attribution/contracts';
import { isUniqueViolation } from '@attribution/database';
import { newEvent } from '@attribution/messaging';
import { implement } from '@attribution/service';
import { findAccount } from '../accounts/index.ts';
import { audit, person } from '../audit/index.ts';
import type { CheckNewPassword } from '../auth/index.ts';
import type { Hasher } from '../passwords/index.ts';
import { findMembership, type Sessions } from '../sessions/index.ts';
import type { Tx } from '../store.ts';
import { findUserByEmail, insertUser, markEmailVerified } from '../users/index.ts';
import type { Inviting } from './create-invitation.ts';
import {
  acceptInvitationRow,
  type InvitationRow,
  insertMembership,
  lockInvitationByToken,
} from './invitation.store.ts';
import { hashInvitationToken } from './invitation.ts';

/** The link proves the address: a newcomer is a verified user at once. */
export const acceptInvitationEndpoint = (
  parts: Pick<Inviting, 'database' | 'outbox' | 'clock'> & {
    readonly hasher: Hasher;
    readonly sessions: Sessions;
    readonly checkNewPassword: CheckNewPassword;
  },
) =>
  implement(acceptInvitation, async ({ body, caller, request }) => {
    const { database, outbox, clock, sessions } = parts;
    const hash = hashInvitationToken(body.token);
    const { full_name: fullName, password } = body;
    if (password !== undefined) parts.checkNewPassword(password, 'body.password');
    const newcomer =
      fullName !== undefined && password !== undefined
        ? { fullName, passwordHash: await parts.hasher.hashPassword(password) }
        : undefined;
    return database
      .transaction(async (tx) => {
        const now = clock.now();
        const invitation = requirePending(await lockInvitationByToken(tx, hash), now);
        const { account_id: accountId } = invitation;
        const account = await findAccount(tx, accountId);
        if (account.status !== 'active') throw new Problem('conflict', 'The account is not open any more.');
        const user = (await requireInvited(tx, invitation, caller)) ?? (await addNewcomer(tx, invitation, now));
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
        if ((user.require_mfa || account.require_mfa) && !user.mfa_enabled_at)
          return sessions.setupEnvelope(user, accountId);
        return sessions.open(tx, user, { membership, account }, request);
      })
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? new Problem('conflict', 'There is a user with this address by now.') : error;
      });

    async function addNewcomer(tx: Tx, { email, email_key }: InvitationRow, now: Date) {
      if (!newcomer)
        throw new Problem('validation-error', 'body.full_name and body.password: are needed of a newcomer.');
      const id = newId('user');
      await insertUser(tx, { id, email, emailKey: email_key, ...newcomer, now });
      return markEmailVerified(tx, id, now);
    }
  });

function requirePending(invitation: InvitationRow | undefined, now: Date): InvitationRow {
  if (!invitation) throw Problem.notFound();
  if (invitation.accepted_at) throw new Problem('gone', 'This invitation was accepted.');
  if (invitation.expires_at <= now) throw new Problem('gone', 'This invitation has expired: ask for another.');
  return invitation;
}

/** The user with the invited address, signed in as such; undefined when there is none. */
async function requireInvited(tx: Tx, { email_key }: InvitationRow, caller: Principal | undefined) {
  const user = await findUserByEmail({ prisma: tx }, email_key);
  if (!user) {
    if (caller) throw new Problem('forbidden', 'You are signed in with another address than the invited one.');
    return undefined;
  }
  if (!caller) throw new Problem('unauthorized', 'There is a user with the invited address: sign in as that user.');
  if (caller.id !== user.id)
    throw new Problem('forbidden', 'You are signed in with another address than the invited one.');
  if (user.disabled_at) throw new Problem('forbidden', 'This user is disabled.');
  return user;
}
