import { createLocation, locationCreated, newId } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { requireSetUpRight } from './group-right.ts';
import { insertLocation } from './location.store.ts';
import { viewLocation } from './location.view.ts';

export const createLocationEndpoint = (parts: { database: OrganizationDatabase; outbox: Outbox; clock: Clock }) =>
  implement(createLocation, async ({ body, caller, request }) => {
    const { accountId } = caller;
    const now = parts.clock.now();
    const row = { id: newId('location'), ...body, created_at: now, updated_at: now };
    return parts.database.sqlTransaction(async (tx) => {
      await requireSetUpRight(tx, caller, body.group_id);
      await insertLocation(tx, accountId, row);
      const location = viewLocation(row);
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await parts.outbox.append(tx, newEvent(locationCreated, { account_id: accountId, location }, context));
      return location;
    });
  });
