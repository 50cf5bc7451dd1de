import { captureTokenHold, Problem, tokensCaptured } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { burn } from './grant.store.ts';
import { lockHold, resolveHold } from './hold.store.ts';
import { isOver, notPending } from './hold.ts';
import { insertEntry, lockBalance } from './ledger.store.ts';
import { viewHold } from './views.ts';

export const captureTokenHoldEndpoint = (parts: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(captureTokenHold, async ({ params, body: { amount }, request }) =>
    parts.database.sqlTransaction(async (tx) => {
      const hold = await lockHold(tx, params.id);
      const balance = hold && (await lockBalance(tx, hold.account_id));
      if (!hold || !balance) throw Problem.notFound();
      const now = parts.clock.now();
      if (hold.status === 'captured' && Number(hold.captured_amount) === amount) return viewHold(hold);
      if (hold.status !== 'pending' || isOver(hold, now)) throw notPending(hold);
      if (amount > Number(hold.amount))
        throw new Problem('unprocessable', `body.amount: the hold is of ${hold.amount} tokens; ${amount} are more.`);
      // First: what it had reserved is free by then to be taken.
      const captured = await resolveHold(tx, hold.id, { status: 'captured', captured: amount, now });
      await insertEntry(tx, balance, {
        kind: 'capture',
        amount: BigInt(-amount),
        description: hold.description,
        idempotencyKey: `capture:${hold.id}`,
        now,
      });
      await burn(tx, hold.account_id, BigInt(amount));
      const data = { account_id: hold.account_id, hold_id: hold.id, amount };
      const context = { accountId: hold.account_id, occurredAt: now, traceparent: request.traceparent };
      await parts.outbox.append(tx, newEvent(tokensCaptured, data, context));
      return viewHold(captured);
    }),
  );
