import { groupUpdated, Problem, updateGroup } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { changeGroup, lockGroup } from './group.store.ts';
import { viewGroup } from './group.view.ts';
import { scopeOf } from './scope.ts';

export const updateGroupEndpoint = (parts: { database: OrganizationDatabase; outbox: Outbox; clock: Clock }) =>
  implement(updateGroup, async ({ params, body, caller, request }) => {
    const { accountId } = caller;
    const now = parts.clock.now();
    return parts.database.transaction(async (tx) => {
      if (!(await lockGroup(tx, scopeOf(caller), params.id, 'exclusive'))) throw Problem.notFound();
      const group = viewGroup(await changeGroup(tx, params.id, body, now));
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await parts.outbox.append(tx, newEvent(groupUpdated, { account_id: accountId, group }, context));
      return group;
    });
  });
