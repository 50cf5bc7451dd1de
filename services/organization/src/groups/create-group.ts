import { createGroup, groupCreated, newId } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { insertGroup } from './group.store.ts';
import { viewGroup } from './group.view.ts';

export const createGroupEndpoint = (parts: { database: OrganizationDatabase; outbox: Outbox; clock: Clock }) =>
  implement(createGroup, async ({ body, caller, request }) => {
    const { accountId } = caller;
    const now = parts.clock.now();
    const row = { id: newId('group'), ...body, created_at: now, updated_at: now };
    return parts.database.sqlTransaction(async (tx) => {
      await insertGroup(tx, accountId, row);
      const group = viewGroup(row);
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await parts.outbox.append(tx, newEvent(groupCreated, { account_id: accountId, group }, context));
      return group;
    });
  });
