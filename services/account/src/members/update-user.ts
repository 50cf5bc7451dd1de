import { type MemberChange, Problem, updateUser, userGrantsChanged } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import { actorOf, audit, changesIn } from '../audit/index.ts';
import type { RequireGroups } from '../groups/index.ts';
import { endSessions, requireStanding } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { changeMember, everyService, lockMember, lockMembers, type MemberRow } from './member.store.ts';
import { viewMember } from './member.view.ts';
import { requireGivable, requireRights, requireTouchable } from './member-rules.ts';

type Change = z.output<typeof MemberChange>;

/** A change of rights ends the user's sessions in this account, in the same transaction (decision 35). */
export const updateUserEndpoint = (deps: {
  database: AccountDatabase;
  outbox: Outbox;
  clock: Clock;
  requireGroups: RequireGroups;
}) =>
  implement(updateUser, async ({ params, body, caller, request }) => {
    const { database, outbox, clock } = deps;
    const { accountId } = caller;
    requireGivable(caller, body);
    const ids = (body.groups ?? []).map(({ group_id }) => group_id);
    await deps.requireGroups(accountId, ids, 'body.groups');
    return database.transaction(async (tx) => {
      await lockMembers(tx, accountId);
      const standing = await requireStanding(tx, updateUser, caller);
      requireGivable(standing, body);
      const member = await lockMember(tx, accountId, params.id);
      if (!member) throw Problem.notFound();
      requireTouchable(caller, member);
      refuseChange(caller.id, member, body);
      const rights = newRights(member, body);
      requireRights(rights);
      if (rights.role !== 'member' && body.billing === false)
        throw new Problem('validation-error', 'body.billing: must be true for an owner or admin.');
      // A change of role gives all rights that the member has then, so the caller must hold all of them.
      if (rights.role !== member.role) for (const holder of [caller, standing]) requireGivable(holder, rights);
      const now = clock.now();
      const changed = await changeMember(tx, accountId, member.user_id, fieldsOf(body, rights), rights.groups);
      const view = viewMember(changed);
      const details = changesIn(viewMember(member), view);
      if (Object.keys(details).length === 0) return view;
      await endSessions(tx, { user_id: member.user_id, account_id: accountId }, 'grants_changed', now);
      await audit(tx, {
        accountId,
        action: 'user.changed',
        actor: actorOf(caller),
        subject: { type: 'user', id: member.user_id },
        details,
        request,
        now,
      });
      const data = { account_id: accountId, user_id: member.user_id };
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await outbox.append(tx, newEvent(userGrantsChanged, data, context));
      return view;
    });
  });

/** Changes that users cannot make to themselves, and changes that cannot be made to the owner. */
function refuseChange(callerId: string, member: MemberRow, { role, status, services }: Change): void {
  const oneself = callerId === member.user_id;
  if (oneself && role !== undefined && role !== member.role)
    throw new Problem('forbidden', 'body.role: nobody changes their own role.');
  if (oneself && status === 'disabled') throw new Problem('conflict', 'body.status: nobody disables themselves.');
  // No other member may change the owner, so the services could never be given back.
  if (member.role === 'owner' && services)
    throw new Problem('conflict', 'body.services: the owner has every service; hand the account over first.');
}

/** The role `admin` and the scope `all` remove all grants. */
function newRights(member: MemberRow, change: Change) {
  const role = change.role ?? member.role;
  const widened = change.role === 'admin' && change.group_scope === undefined;
  const group_scope = widened ? ('all' as const) : (change.group_scope ?? member.group_scope);
  const groups = change.groups ?? (group_scope === 'all' ? [] : member.grants);
  const services = change.services === undefined ? member.services : change.services;
  // Billing access of an owner or admin comes from the role and is not kept, so that it does not reappear with another
  // role.
  const billing = role === 'member' && (change.billing ?? (member.role === 'member' && member.billing));
  return { role, group_scope, groups, services, billing };
}

function fieldsOf(change: Change, { role, group_scope, billing }: Pick<MemberRow, 'role' | 'group_scope' | 'billing'>) {
  const { services, status } = change;
  return {
    role,
    group_scope,
    billing,
    ...(services !== undefined && { services: services ?? everyService }),
    ...(status !== undefined && { status }),
  };
}
