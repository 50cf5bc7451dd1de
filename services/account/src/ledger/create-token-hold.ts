import { createTokenHold, Problem, tokensHeld } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { takeBackExpired } from './expire-tokens.ts';
import { findPurchaseGrants, type PurchaseGrant } from './grant.store.ts';
import {
  findAccountStatus,
  findHoldByKey,
  type HoldRow,
  insertHold,
  type NewHold,
  sumWithParts,
} from './hold.store.ts';
import { createHoldInBatch } from './hold-in-batch.ts';
import { type BalanceRow, lockBalance } from './ledger.store.ts';
import { openTokens, reservePurchase } from './purchase-tokens.ts';
import { viewHold } from './views.ts';

export function createTokenHoldEndpoint(deps: { database: AccountDatabase; outbox: Outbox; clock: Clock }) {
  const { database, outbox } = deps;
  const holdInBatch = createHoldInBatch(deps);
  return implement(createTokenHold, async ({ body, caller, request }) => {
    const { account_id: accountId, payment_id: paymentId, amount, description } = body;
    const idempotencyKey = `${caller}:${body.idempotency_key}`;
    const now = deps.clock.now();
    const expiresAt = new Date(now.getTime() + body.expires_in);
    const hold = { id: newId('token_hold'), accountId, amount, description, idempotencyKey, expiresAt, now };
    const context = { accountId, occurredAt: now, traceparent: request.traceparent };
    const held = newEvent(tokensHeld, { account_id: accountId, hold_id: hold.id, amount }, context);
    // A hold on one purchase is not batched: it is rare, and must check the grant of the purchase first.
    const made = paymentId === null ? await holdInBatch({ hold, event: held }) : undefined;
    if (made) return viewHold(made);
    const answer = await database.sqlTransaction(async (tx) => {
      const balance = await lockBalance(tx, accountId);
      if (!balance) throw noAccount(accountId, undefined);
      const grants = paymentId === null ? null : await findPurchaseGrants(tx, accountId, paymentId);
      const before = await findHoldByKey(tx, accountId, idempotencyKey);
      if (before) return viewHold(requireSame(await whole(tx, before), amount, grants));
      const status = await findAccountStatus(tx, accountId);
      if (status !== 'active') throw noAccount(accountId, status);
      if (grants?.length === 0) throw noPurchase(paymentId);
      // Expired grants are taken back here, in case the job has not processed them yet.
      const { balance: swept, events } = await takeBackExpired(tx, balance, now);
      const late = await (grants === null ? insertHold(tx, hold) : insertWhereOpen(tx, grants, hold, swept));
      const isMade = late !== undefined && !(late instanceof Problem);
      await outbox.append(tx, ...events, ...(isMade ? [held] : []));
      return isMade ? viewHold(late) : (late ?? insufficient('account', swept.posted - swept.held, amount));
    });
    // The problem is returned from the transaction, not thrown, so that taking back expired grants is committed.
    if (answer instanceof Problem) throw answer;
    return answer;
  });
}

/** A hold on several grants of one purchase is one to its caller. */
const whole = async (tx: Sql, hold: HoldRow): Promise<HoldRow> =>
  hold.grant_id === null ? hold : { ...hold, amount: BigInt(await sumWithParts(tx, hold.id)) };

/** `grants` are those of the purchase; null when no purchase was named; none when the purchase does not exist. */
function requireSame(before: HoldRow, amount: number, grants: readonly PurchaseGrant[] | null): HoldRow {
  if (Number(before.amount) !== amount)
    throw new Problem('conflict', `body.idempotency_key: was used for a hold of ${before.amount} tokens.`);
  const { grant_id } = before;
  const same = grants === null ? grant_id === null : grants.some(({ entry_id }) => entry_id === grant_id);
  if (!same) throw new Problem('conflict', 'body.idempotency_key: was used for a hold of other tokens.');
  return before;
}

/**
 * Returns undefined when the account has too few tokens available, and a problem when the purchase has too few left.
 */
async function insertWhereOpen(
  tx: Sql,
  grants: readonly PurchaseGrant[],
  hold: NewHold,
  { posted, held }: BalanceRow,
): Promise<HoldRow | Problem | undefined> {
  const open = openTokens(grants);
  if (open < hold.amount) return insufficient('purchase', BigInt(open), hold.amount);
  if (posted - held < hold.amount) return undefined;
  const [first] = await reservePurchase(tx, grants, hold);
  return first && { ...first, amount: BigInt(hold.amount) };
}

const insufficient = (of: 'account' | 'purchase', available: bigint, amount: number) =>
  new Problem('insufficient-balance', `The ${of} has ${available} tokens available; ${amount} are needed.`);

const noPurchase = (paymentId: string | null) =>
  new Problem('unprocessable', `body.payment_id: payment ${paymentId} bought no tokens of this account.`);

function noAccount(id: string, status: string | undefined): Problem {
  if (status === undefined) return new Problem('unprocessable', `body.account_id: there is no account ${id}.`);
  return new Problem('conflict', `body.account_id: account ${id} is ${status}.`);
}
