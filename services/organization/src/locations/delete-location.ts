import { deleteLocation as contract, locationDeleted, Problem } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import { scopeOf } from '../groups/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { refuseOthers } from './group-right.ts';
import { deleteLocation, lockLocation } from './location.store.ts';

export const deleteLocationEndpoint = (parts: { database: OrganizationDatabase; outbox: Outbox; clock: Clock }) =>
  implement(contract, async ({ params, caller, request }) => {
    const { accountId } = caller;
    const context = { accountId, occurredAt: parts.clock.now(), traceparent: request.traceparent };
    await parts.database.transaction(async (tx) => {
      const location = await lockLocation(tx, scopeOf(caller), params.id);
      if (!location) throw Problem.notFound();
      refuseOthers(caller, location.group_id);
      await deleteLocation(tx, params.id);
      await parts.outbox.append(
        tx,
        newEvent(locationDeleted, { account_id: accountId, location_id: params.id }, context),
      );
    });
  });
