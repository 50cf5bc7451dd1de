import { deleteInvitation, Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import type { AccountDatabase } from '../store.ts';
import { deleteInvitationRow, lockInvitation } from './invitation.store.ts';

/** An accepted invitation disappears from the list; its user stays a member. */
export const deleteInvitationEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(deleteInvitation, async ({ params, caller, request }) => {
    const { accountId } = caller;
    await database.transaction(async (tx) => {
      const invitation = await lockInvitation(tx, accountId, params.id);
      if (!invitation) throw Problem.notFound();
      await deleteInvitationRow(tx, invitation.id);
      await audit(tx, {
        accountId,
        action: 'invitation.deleted',
        actor: actorOf(caller),
        subject: { type: 'invitation', id: invitation.id },
        details: { email: invitation.email },
        request,
        now: clock.now(),
      });
    });
  });
