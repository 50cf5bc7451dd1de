import { deleteGroup as contract, groupDeleted, Problem } from '@attribution/contracts';
import { isForeignKeyViolation } from '@attribution/database';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { deleteGroup, lockGroup } from './group.store.ts';
import { scopeOf } from './scope.ts';

export const deleteGroupEndpoint = (parts: { database: OrganizationDatabase; outbox: Outbox; clock: Clock }) =>
  implement(contract, async ({ params, caller, request }) => {
    const { accountId } = caller;
    const context = { accountId, occurredAt: parts.clock.now(), traceparent: request.traceparent };
    await parts.database
      .transaction(async (tx) => {
        if (!(await lockGroup(tx, scopeOf(caller), params.id, 'exclusive'))) throw Problem.notFound();
        await deleteGroup(tx, params.id);
        await parts.outbox.append(tx, newEvent(groupDeleted, { account_id: accountId, group_id: params.id }, context));
      })
      .catch((error: unknown) => {
        throw isForeignKeyViolation(error)
          ? new Problem('conflict', 'The group has locations: move or delete them first.')
          : error;
      });
  });
