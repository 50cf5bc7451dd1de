import { disableMfa, Problem } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { findMemberships } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { deleteEnrolment, lockMfaUser } from './mfa.store.ts';
import type { MfaCodes } from './mfa-codes.ts';

export const disableMfaEndpoint = (parts: { database: AccountDatabase; mfaCodes: MfaCodes; clock: Clock }) =>
  implement(disableMfa, async ({ body, caller, request }) => {
    const { database, mfaCodes, clock } = parts;
    const memberships = await findMemberships(database, caller.id);
    const requiring = memberships.find(({ status, account }) => status === 'active' && account.require_mfa);
    await database.transaction(async (tx) => {
      const user = await lockMfaUser(tx, caller.id);
      if (!user?.mfa_enabled_at || !user.mfa_enrolment) throw new Problem('conflict', 'MFA is not on.');
      if (user.require_mfa || requiring)
        throw new Problem('conflict', `MFA is required by ${requiring ? requiring.account.name : 'us'}.`);
      const now = clock.now();
      if (!(await mfaCodes.use(tx, user.mfa_enrolment, body.code, now)))
        throw new Problem('validation-error', 'body.code: is wrong, or was used before.');
      await deleteEnrolment(tx, user.id, now);
      await audit(tx, {
        accountId: caller.accountId,
        action: 'mfa.disabled',
        actor: actorOf(caller),
        subject: { type: 'user', id: user.id },
        request,
        now,
      });
    });
  });
