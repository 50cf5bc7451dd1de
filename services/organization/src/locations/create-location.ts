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
    return parts.database.transaction(async (tx) => {
      await requireSetUpRight(tx, caller, body.group_id);
      const location = viewLocation(await insertLocation(tx, newId('location'), accountId, body, now));
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await parts.outbox.append(tx, newEvent(locationCreated, { account_id: accountId, location }, context));
      return location;
    });
  });
