import type { Principal } from '@attribution/auth';
import { Problem, transferOwnership, userGrantsChanged } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { changeMember, everyService, lockMember } from '../members/index.ts';
import type { FreshProof } from '../mfa/index.ts';
import type { Notices } from '../notices/index.ts';
import { endSessions } from '../sessions/index.ts';
import type { Tx } from '../store.ts';
import { findUser } from '../users/index.ts';
import { lockOwnAccount } from './own-account.ts';

/**
 * Concurrent transfers are serialized by the lock of the account's row. A unique index guarantees one owner per
 * account.
 */
export const transferOwnershipEndpoint = (deps: {
  outbox: Outbox;
  freshProof: FreshProof;
  notices: Notices;
  clock: Clock;
}) =>
  implement(transferOwnership, async ({ params, body, caller, request }) => {
    const { outbox, freshProof, notices, clock } = deps;
    const { id: userId, accountId } = caller;
    if (params.id !== accountId) throw Problem.notFound();
    const heirId = body.user_id;
    const record = {
      accountId,
      action: 'account.handed_over',
      actor: actorOf(caller),
      subject: { type: 'user', id: heirId },
      request,
    };
    const decide = (tx: Tx) => lockWithHeir(tx, caller, heirId);
    await freshProof.require({ userId, given: body, record, decide }, async (tx, { account }) => {
      const { name: accountName } = account;
      const now = clock.now();
      // The old owner is changed first: a unique index allows only one owner.
      await changeMember(tx, accountId, userId, { role: 'admin', group_scope: 'all' }, []);
      const rights = { role: 'owner', group_scope: 'all', services: everyService, billing: false } as const;
      await changeMember(tx, accountId, heirId, rights, []);
      const both = { user_id: { in: [userId, heirId] }, account_id: accountId };
      await endSessions(tx, both, 'grants_changed', now);
      await audit(tx, { ...record, details: { from: userId }, now });
      await notices.tell(tx, userId, { kind: 'ownership_given', accountName }, request);
      await notices.tell(tx, heirId, { kind: 'ownership_received', accountName }, request);
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      const grantsChanged = (user_id: string) =>
        newEvent(userGrantsChanged, { account_id: accountId, user_id }, context);
      await outbox.append(tx, grantsChanged(userId), grantsChanged(heirId));
    });
  });

/** Locks the caller's account. Throws when it cannot be handed over to the heir. */
async function lockWithHeir(tx: Tx, caller: Principal, heirId: string) {
  const own = await lockOwnAccount(tx, caller);
  if (heirId === caller.id) throw new Problem('conflict', 'body.user_id: is the owner already.');
  const heir = await lockMember(tx, caller.accountId, heirId);
  const user = heir && (await findUser(tx, heirId));
  if (heir?.status !== 'active' || user?.disabled_at)
    throw new Problem('unprocessable', `body.user_id: ${heirId} is no active user of this account.`);
  return own;
}
