import { createInvitation, Problem, userInvited } from '@attribution/contracts';
import { isUniqueViolation } from '@attribution/database';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implementWrite } from '@attribution/service';
import { findAccount } from '../accounts/index.ts';
import { actorOf, audit } from '../audit/index.ts';
import { emailKeyOf } from '../codes/index.ts';
import type { RequireGroups } from '../groups/index.ts';
import { countInvitation, invitationMail, type MailQueue } from '../mail/index.ts';
import { requireGivable, requireRights } from '../members/index.ts';
import { requireStanding } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { deleteExpiredInvitation, insertInvitation, isMember } from './invitation.store.ts';
import { invitationExpiry, invitationLink, newInvitationToken } from './invitation.ts';
import { viewInvitation } from './invitation.view.ts';
import { requireActive } from './invited.ts';
import { requireRoom } from './room.ts';

export interface Inviting {
  readonly database: AccountDatabase;
  readonly outbox: Outbox;
  readonly mail: MailQueue;
  readonly clock: Clock;
  /** Base URL of the product app, which invitation links point to. */
  readonly appUrl: string;
}

interface Dependencies extends Inviting {
  readonly requireGroups: RequireGroups;
}

export const createInvitationEndpoint = ({ database, outbox, mail, clock, appUrl, requireGroups }: Dependencies) =>
  implementWrite(createInvitation, database.transaction, async ({ body, caller, request, transaction }) => {
    const { accountId } = caller;
    requireRights(body);
    requireGivable(caller, body);
    const ids = body.groups.map(({ group_id }) => group_id);
    await requireGroups(accountId, ids, 'body.groups');
    const emailKey = emailKeyOf(body.email);
    const { token, hash } = newInvitationToken();
    const now = clock.now();
    return transaction(async (tx) => {
      requireGivable(await requireStanding(tx, createInvitation, caller), body);
      const { name } = requireActive(await findAccount(tx, accountId));
      if (await isMember(tx, accountId, emailKey))
        throw new Problem('conflict', 'body.email: is a user of this account already.');
      await requireRoom(tx, accountId, now);
      const expired = await deleteExpiredInvitation(tx, accountId, emailKey, now);
      const invitation = await insertInvitation(tx, {
        ...body,
        accountId,
        emailKey,
        tokenHash: hash,
        invitedBy: caller.id,
        expiresAt: invitationExpiry(now),
        now,
      });
      await countInvitation(tx, { accountId, emailKey, now });
      await mail.enqueue(
        tx,
        invitationMail({ to: body.email, accountName: name, link: invitationLink(appUrl, token) }),
      );
      const record = { accountId, actor: actorOf(caller), request, now };
      const { email, role } = body;
      const deleted = expired && {
        ...record,
        action: 'invitation.deleted',
        subject: { type: 'invitation', id: expired.id },
        details: { email: expired.email, reason: 'expired' },
      };
      const made = {
        ...record,
        action: 'user.invited',
        subject: { type: 'invitation', id: invitation.id },
        details: { email, role },
      };
      await audit(tx, ...(deleted ? [deleted] : []), made);
      const data = { account_id: accountId, invitation_id: invitation.id };
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await outbox.append(tx, newEvent(userInvited, data, context));
      return viewInvitation(invitation, now);
    }).catch((error: unknown) => {
      throw isUniqueViolation(error) ? new Problem('conflict', 'body.email: is invited already.') : error;
    });
  });
