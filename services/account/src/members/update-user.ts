import { type MemberChange, Problem, updateUser, userGrantsChanged } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { z } from 'zod';
import { actorOf, audit } from '../audit/index.ts';
import type { RequireGroups } from '../groups/index.ts';
import { endSessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { changeMember, everyService, lockMember, type MemberRow } from './member.store.ts';
import { viewMember } from './member.view.ts';
import { requireRights, requireTouchable } from './member-rules.ts';

type Change = z.output<typeof MemberChange>;

/** Any change ends the user's refresh tokens here, in the same transaction (decision 35). */
export const updateUserEndpoint = (parts: {
  database: AccountDatabase;
  outbox: Outbox;
  clock: Clock;
  requireGroups: RequireGroups;
}) =>
  implement(updateUser, async ({ params, body, caller, request }) => {
    const { database, outbox, clock } = parts;
    const { accountId } = caller;
    const ids = (body.groups ?? []).map(({ group_id }) => group_id);
    await parts.requireGroups(accountId, ids, 'body.groups');
    return database.transaction(async (tx) => {
      const member = await lockMember(tx, accountId, params.id);
      if (!member) throw Problem.notFound();
      requireTouchable(caller, member);
      refuseOnOneself(caller.id, member, body);
      const rights = newRights(member, body);
      requireRights(rights);
      const now = clock.now();
      const changed = await changeMember(tx, accountId, member.user_id, fieldsOf(body, rights), rights.groups);
      await endSessions(tx, { user_id: member.user_id, account_id: accountId }, 'grants_changed', now);
      await audit(tx, {
        accountId,
        action: 'user.changed',
        actor: actorOf(caller),
        subject: { type: 'user', id: member.user_id },
        details: { fields: Object.keys(body) },
        request,
        now,
      });
      const data = { account_id: accountId, user_id: member.user_id };
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await outbox.append(tx, newEvent(userGrantsChanged, data, context));
      return viewMember(changed);
    });
  });

function refuseOnOneself(callerId: string, member: MemberRow, change: Change): void {
  const { role, status } = change;
  if (role !== undefined && role !== member.role) {
    if (callerId === member.user_id) throw new Problem('forbidden', 'body.role: nobody changes their own role.');
    if (member.role === 'owner') throw new Problem('conflict', 'body.role: ownership is handed over, not changed.');
  }
  if (status === 'disabled' && (callerId === member.user_id || member.role === 'owner'))
    throw new Problem('conflict', 'body.status: neither the owner nor oneself can be disabled.');
}

/** A new role of admin, or a scope of all, leaves no grants. */
function newRights(member: MemberRow, change: Change) {
  const role = change.role ?? member.role;
  const widened = change.role === 'admin' && change.group_scope === undefined;
  const group_scope = widened ? ('all' as const) : (change.group_scope ?? member.group_scope);
  return { role, group_scope, groups: change.groups ?? (group_scope === 'all' ? [] : member.grants) };
}

function fieldsOf(change: Change, { role, group_scope }: Pick<MemberRow, 'role' | 'group_scope'>) {
  const { services, billing, status } = change;
  return {
    role,
    group_scope,
    ...(services !== undefined && { services: services ?? everyService }),
    ...(billing !== undefined && { billing }),
    ...(status !== undefined && { status }),
  };
}
