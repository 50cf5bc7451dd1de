import { Problem, voidTokenHold } from '@attribution/contracts';
import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { lockHold } from './hold.store.ts';
import { notPending } from './hold.ts';
import { viewHold } from './views.ts';
import { voidHold } from './void-hold.ts';

export const voidTokenHoldEndpoint = (deps: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(voidTokenHold, async ({ params, request }) =>
    deps.database.sqlTransaction(async (tx) => {
      const { hold } = (await lockHold(tx, params.id)) ?? {};
      if (!hold) throw Problem.notFound();
      if (hold.status === 'voided') return viewHold(hold);
      if (hold.status !== 'pending') throw notPending(hold);
      const { traceparent } = request;
      const { voided, event } = await voidHold(tx, hold, { now: deps.clock.now(), traceparent });
      await deps.outbox.append(tx, event);
      return viewHold(voided);
    }),
  );
