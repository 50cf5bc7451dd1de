import { createTokenHold, newId, Problem, tokensHeld } from '@attribution/contracts';
import { isCheckViolation } from '@attribution/database';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findAccountStatus, findHoldByKey, insertHold } from './hold.store.ts';
import { findBalance } from './ledger.store.ts';
import { viewHold } from './views.ts';

export const createTokenHoldEndpoint = (parts: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(createTokenHold, async ({ body, caller, request }) => {
    const { database, outbox } = parts;
    const { account_id: accountId, amount, description } = body;
    const idempotencyKey = `${caller}:${body.idempotency_key}`;
    const now = parts.clock.now();
    const expiresAt = new Date(now.getTime() + body.expires_in);
    const hold = { id: newId('token_hold'), accountId, amount, description, idempotencyKey, expiresAt, now };
    try {
      return await database.sqlTransaction(async (tx) => {
        const made = await insertHold(tx, hold);
        if (made) {
          const context = { accountId, occurredAt: now, traceparent: request.traceparent };
          await outbox.append(tx, newEvent(tokensHeld, { account_id: accountId, hold_id: hold.id, amount }, context));
          return viewHold(made);
        }
        const before = await findHoldByKey(tx, accountId, idempotencyKey);
        if (!before) throw noAccount(accountId, await findAccountStatus(tx, accountId));
        if (Number(before.amount) === amount) return viewHold(before);
        throw new Problem('conflict', `body.idempotency_key: was used for a hold of ${before.amount} tokens.`);
      });
    } catch (error) {
      if (!isCheckViolation(error, 'balances_available_check')) throw error;
      const balance = await findBalance(database, accountId);
      const available = balance ? balance.posted - balance.held : 0n;
      throw new Problem('insufficient-balance', `The account has ${available} tokens available; ${amount} are needed.`);
    }
  });

function noAccount(id: string, status: string | undefined): Problem {
  if (status === undefined) return new Problem('unprocessable', `body.account_id: there is no account ${id}.`);
  return new Problem('conflict', `body.account_id: account ${id} is ${status}.`);
}
