import { captureTokenHold, Problem } from '@attribution/contracts';
import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { captureHold } from './capture-hold.ts';
import { lockHold } from './hold.store.ts';
import { isOver, notPending } from './hold.ts';
import { viewHold } from './views.ts';

export const captureTokenHoldEndpoint = (deps: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(captureTokenHold, async ({ params, body: { amount }, request }) =>
    deps.database.sqlTransaction(async (tx) => {
      const locked = await lockHold(tx, params.id);
      if (!locked) throw Problem.notFound();
      const { hold, balance } = locked;
      const now = deps.clock.now();
      if (hold.status === 'captured' && Number(hold.captured_amount) === amount) return viewHold(hold);
      if (hold.status !== 'pending' || isOver(hold, now)) throw notPending(hold);
      if (amount > Number(hold.amount))
        throw new Problem('unprocessable', `body.amount: the hold is of ${hold.amount} tokens; ${amount} are more.`);
      const { captured, event } = await captureHold(tx, {
        hold,
        balance,
        amount,
        entry: { kind: 'capture', description: hold.description, idempotencyKey: `capture:${hold.id}` },
        now,
        traceparent: request.traceparent,
      });
      await deps.outbox.append(tx, event);
      return viewHold(captured);
    }),
  );
