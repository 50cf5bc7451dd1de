import { Problem, resendInvitation } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { findAccount } from '../accounts/index.ts';
import { actorOf, audit } from '../audit/index.ts';
import { countInvitation, invitationMail } from '../mail/index.ts';
import { requireStanding } from '../sessions/index.ts';
import type { Inviting } from './create-invitation.ts';
import { lockInvitation, renewInvitation } from './invitation.store.ts';
import { invitationExpiry, invitationLink, newInvitationToken } from './invitation.ts';
import { requireActive } from './invited.ts';
import { requireRoom } from './room.ts';

export const resendInvitationEndpoint = (deps: Omit<Inviting, 'outbox'>) =>
  implement(resendInvitation, async ({ params, caller, request }) => {
    const { database, mail, clock, appUrl } = deps;
    const { accountId } = caller;
    const { token, hash } = newInvitationToken();
    await database.transaction(async (tx) => {
      await requireStanding(tx, resendInvitation, caller);
      const invitation = await lockInvitation(tx, accountId, params.id);
      if (!invitation) throw Problem.notFound();
      if (invitation.accepted_at) throw new Problem('conflict', 'This invitation was accepted.');
      const { name } = requireActive(await findAccount(tx, accountId));
      const now = clock.now();
      if (invitation.expires_at <= now) await requireRoom(tx, accountId, now);
      await renewInvitation(tx, invitation.id, hash, invitationExpiry(now));
      await countInvitation(tx, { accountId, emailKey: invitation.email_key, now });
      const link = invitationLink(appUrl, token);
      await mail.enqueue(tx, invitationMail({ to: invitation.email, accountName: name, link }));
      await audit(tx, {
        accountId,
        action: 'invitation.resent',
        actor: actorOf(caller),
        subject: { type: 'invitation', id: invitation.id },
        request,
        now,
      });
    });
  });
