import { Problem, tokensVoided, voidTokenHold } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { lockHold, resolveHold } from './hold.store.ts';
import { notPending } from './hold.ts';
import { viewHold } from './views.ts';

export const voidTokenHoldEndpoint = (parts: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(voidTokenHold, async ({ params, request }) =>
    parts.database.sqlTransaction(async (tx) => {
      const hold = await lockHold(tx, params.id);
      if (!hold) throw Problem.notFound();
      if (hold.status === 'voided') return viewHold(hold);
      if (hold.status !== 'pending') throw notPending(hold);
      const now = parts.clock.now();
      const voided = await resolveHold(tx, hold.id, { status: 'voided', now });
      const data = { account_id: hold.account_id, hold_id: hold.id, amount: Number(hold.amount) };
      const context = { accountId: hold.account_id, occurredAt: now, traceparent: request.traceparent };
      await parts.outbox.append(tx, newEvent(tokensVoided, data, context));
      return viewHold(voided);
    }),
  );
