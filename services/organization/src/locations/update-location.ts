import { locationUpdated, Problem, updateLocation } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import { scopeOf } from '../groups/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { refuseOthers, requireSetUpRight } from './group-right.ts';
import { changeLocation, lockLocation } from './location.store.ts';
import { viewLocation } from './location.view.ts';

export const updateLocationEndpoint = (parts: { database: OrganizationDatabase; outbox: Outbox; clock: Clock }) =>
  implement(updateLocation, async ({ params, body, caller, request }) => {
    const { accountId } = caller;
    const now = parts.clock.now();
    return parts.database.transaction(async (tx) => {
      const before = await lockLocation(tx, scopeOf(caller), params.id);
      if (!before) throw Problem.notFound();
      refuseOthers(caller, before.group_id);
      if (body.group_id !== undefined && body.group_id !== before.group_id)
        await requireSetUpRight(tx, caller, body.group_id);
      const location = viewLocation(await changeLocation(tx, params.id, body, now));
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await parts.outbox.append(tx, newEvent(locationUpdated, { account_id: accountId, location }, context));
      return location;
    });
  });
