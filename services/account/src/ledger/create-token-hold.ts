import { createTokenHold, newId, Problem, tokensHeld } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { takeBackDue } from './expire-tokens.ts';
import { findAccountStatus, findHoldByKey, type HoldRow, insertHold } from './hold.store.ts';
import { createHoldTogether } from './holds-together.ts';
import { lockBalance } from './ledger.store.ts';
import { viewHold } from './views.ts';

export function createTokenHoldEndpoint(parts: { database: AccountDatabase; outbox: Outbox; clock: Clock }) {
  const { database, outbox } = parts;
  const holdTogether = createHoldTogether(parts);
  return implement(createTokenHold, async ({ body, caller, request }) => {
    const { account_id: accountId, amount, description } = body;
    const idempotencyKey = `${caller}:${body.idempotency_key}`;
    const now = parts.clock.now();
    const expiresAt = new Date(now.getTime() + body.expires_in);
    const hold = { id: newId('token_hold'), accountId, amount, description, idempotencyKey, expiresAt, now };
    const context = { accountId, occurredAt: now, traceparent: request.traceparent };
    const held = newEvent(tokensHeld, { account_id: accountId, hold_id: hold.id, amount }, context);
    const made = await holdTogether({ hold, event: held });
    if (made) return viewHold(made);
    const answer = await database.sqlTransaction(async (tx) => {
      const balance = await lockBalance(tx, accountId);
      if (!balance) throw noAccount(accountId, undefined);
      const before = await findHoldByKey(tx, accountId, idempotencyKey);
      if (before) return viewHold(requireSame(before, amount));
      const status = await findAccountStatus(tx, accountId);
      if (status !== 'active') throw noAccount(accountId, status);
      // What has run out is taken back, though the job has not come to it yet.
      const { left, events } = await takeBackDue(tx, balance, now);
      const late = await insertHold(tx, hold);
      await outbox.append(tx, ...events, ...(late ? [held] : []));
      return late ? viewHold(late) : insufficient(left.posted - left.held, amount);
    });
    // Returned rather than thrown, so that what was taken back stays so.
    if (answer instanceof Problem) throw answer;
    return answer;
  });
}

function requireSame(before: HoldRow, amount: number): HoldRow {
  if (Number(before.amount) === amount) return before;
  throw new Problem('conflict', `body.idempotency_key: was used for a hold of ${before.amount} tokens.`);
}

const insufficient = (available: bigint, amount: number) =>
  new Problem('insufficient-balance', `The account has ${available} tokens available; ${amount} are needed.`);

function noAccount(id: string, status: string | undefined): Problem {
  if (status === undefined) return new Problem('unprocessable', `body.account_id: there is no account ${id}.`);
  return new Problem('conflict', `body.account_id: account ${id} is ${status}.`);
}
