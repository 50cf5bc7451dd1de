import { groupDeleted, userGrantsChanged } from '@attribution/contracts';
import { newEvent, type Outbox, onBatch } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { type AuditRecord, audit, serviceActor } from '../audit/index.ts';
import { type Loss, takeGrants } from './known-group.store.ts';

/**
 * Deletes the grants of deleted groups; the projection deletes the groups themselves. Sessions stay open, unlike after
 * a change of grants by a person (decision 35): a deleted group grants nothing in any token, so ending the sessions of
 * all its members would only disturb them.
 */
export const onGroupDeleted = ({ outbox, clock }: { outbox: Outbox; clock: Clock }) =>
  onBatch(groupDeleted, async (tx, events) => {
    const groups = events.map(({ data }) => ({ id: data.group_id, accountId: data.account_id }));
    const losses = await takeGrants(tx, groups);
    const now = clock.now();
    await audit(tx, ...losses.map((loss) => auditRecordOf(loss, now)));
    const traceparents = new Map(events.map(({ data, traceparent }) => [data.account_id, traceparent]));
    const changes = losses.flatMap(({ holder, id: user_id, account_id }) => {
      const context = { accountId: account_id, occurredAt: now, traceparent: traceparents.get(account_id) ?? null };
      return holder === 'user' ? [newEvent(userGrantsChanged, { account_id, user_id }, context)] : [];
    });
    await outbox.append(tx, ...changes);
  });

const actions = { user: 'user.changed', api_key: 'api_key.changed', invitation: 'invitation.changed' } as const;

const auditRecordOf = ({ holder, id, account_id, group_ids }: Loss, now: Date): AuditRecord => ({
  accountId: account_id,
  action: actions[holder],
  actor: serviceActor('organization'),
  subject: { type: holder, id },
  details: { reason: 'group_deleted', group_ids: [...group_ids] },
  now,
});
