import type { Sql } from '@attribution/database';
import { purchaseKey } from './grant.store.ts';
import type { HoldRow } from './hold.store.ts';

/** A dispute of a purchase that is open or lost, in tokens. */
export interface DisputedRow {
  readonly dispute_id: string;
  /** The tokens that the disputed money bought. */
  readonly disputed: number;
  readonly lost: boolean;
  /** When it is lost: those that were taken back; those that were spent already, which are owed; what of these is paid. */
  readonly taken: number;
  readonly amount: number;
  readonly paid: number;
}

interface OfPurchase {
  readonly accountId: string;
  readonly paymentId: string;
}

interface OfDispute {
  readonly accountId: string;
  readonly disputeId: string;
}

/** The disputes of a purchase that are open or lost, the oldest first. */
export async function findDisputes(tx: Sql, { accountId, paymentId }: OfPurchase): Promise<readonly DisputedRow[]> {
  return tx.$queryRaw<DisputedRow[]>`
    SELECT dispute_id, disputed::float8, lost, taken::float8, amount::float8, paid::float8 FROM token_debts
    WHERE account_id = ${accountId} AND payment_id = ${paymentId} ORDER BY created_at, dispute_id`;
}

/** Inserts a dispute, or stores that it is lost. */
export async function putDispute(
  tx: Sql,
  dispute: OfPurchase & OfDispute & { readonly amount: number; readonly lost: boolean; readonly now: Date },
): Promise<void> {
  const { accountId, disputeId, paymentId, amount, lost, now } = dispute;
  await tx.$executeRaw`
    INSERT INTO token_debts (account_id, dispute_id, payment_id, disputed, lost, amount, created_at)
    VALUES (${accountId}, ${disputeId}, ${paymentId}, ${amount}, ${lost}, 0, ${now})
    ON CONFLICT (account_id, dispute_id) DO UPDATE SET disputed = EXCLUDED.disputed, lost = EXCLUDED.lost`;
}

/** Removes a dispute that is won. */
export async function removeDispute(tx: Sql, { accountId, disputeId }: OfDispute): Promise<void> {
  await tx.$executeRaw`DELETE FROM token_debts WHERE account_id = ${accountId} AND dispute_id = ${disputeId}`;
}

/** Stores what a lost dispute took, and what is owed for it. */
export async function setTaken(
  tx: Sql,
  { accountId, disputeId }: OfDispute,
  { taken, amount }: Pick<DisputedRow, 'taken' | 'amount'>,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE token_debts SET taken = ${taken}, amount = ${amount}
    WHERE account_id = ${accountId} AND dispute_id = ${disputeId}`;
}

/** What an account owes. The balance must be locked. */
export async function sumDebts(tx: Sql, accountId: string): Promise<number> {
  const [row] = await tx.$queryRaw<{ owed: bigint }[]>`
    SELECT coalesce(sum(amount - paid), 0)::bigint AS owed FROM token_debts WHERE account_id = ${accountId}`;
  return Number(row?.owed ?? 0);
}

/** Pays the debts of an account with so many tokens, the oldest first. The balance must be locked. */
export async function payOldest(tx: Sql, accountId: string, tokens: number): Promise<void> {
  await tx.$executeRaw`
    UPDATE token_debts AS d SET paid = d.paid + least(o.owed, ${tokens}::bigint - o.before)
    FROM (SELECT dispute_id, amount - paid AS owed,
            sum(amount - paid) OVER (ORDER BY created_at, dispute_id)::bigint - (amount - paid) AS before
          FROM token_debts WHERE account_id = ${accountId} AND paid < amount) AS o
    WHERE d.account_id = ${accountId} AND d.dispute_id = o.dispute_id AND o.before < ${tokens}::bigint`;
}

/** A pending hold of an open dispute. */
export interface DisputeHold extends HoldRow {
  readonly dispute_id: string;
}

/** The pending holds of the disputes of a purchase. The balance must be locked. */
export async function findDisputeHolds(tx: Sql, { accountId, paymentId }: OfPurchase): Promise<readonly DisputeHold[]> {
  return tx.$queryRaw<DisputeHold[]>`
    SELECT h.id, h.account_id, h.amount, h.captured_amount, h.status, h.description, h.expires_at, h.created_at,
      h.resolved_at, h.grant_id, d.dispute_id
    FROM ledger_entries AS e
    JOIN token_grants AS g ON g.entry_id = e.id OR g.purchase_id = e.id
    JOIN token_holds AS h ON h.grant_id = g.entry_id AND h.status = 'pending'
    JOIN token_debts AS d ON d.account_id = e.account_id AND d.payment_id = ${paymentId}
      AND starts_with(translate(h.idempotency_key, '+', ':') || ':', 'dispute:' || d.dispute_id || ':')
    WHERE e.account_id = ${accountId} AND e.idempotency_key = ${purchaseKey(paymentId)}
    ORDER BY h.id`;
}

/** The tokens of a purchase that were not given back and are not owed. What other purchases owed was not given back. */
export async function findKeptTokens(tx: Sql, { accountId, paymentId }: OfPurchase): Promise<number> {
  const [row] = await tx.$queryRaw<{ kept: bigint }[]>`
    SELECT (e.amount + coalesce(sum(g.amount) FILTER (WHERE g.purchase_id = e.id), 0) - coalesce(sum(h.returned), 0) - (
        SELECT coalesce(sum(amount), 0) FROM token_debts WHERE account_id = e.account_id AND payment_id = ${paymentId}
      ))::bigint AS kept
    FROM ledger_entries AS e
    JOIN token_grants AS g ON g.entry_id = e.id OR g.purchase_id = e.id
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(CASE WHEN status = 'captured' THEN captured_amount ELSE amount END), 0) AS returned
      FROM token_holds
      WHERE grant_id = g.entry_id AND status IN ('pending', 'captured') AND NOT starts_with(idempotency_key, 'debt:')
      ) AS h
    WHERE e.account_id = ${accountId} AND e.idempotency_key = ${purchaseKey(paymentId)}
    GROUP BY e.id, e.amount, e.account_id`;
  return Number(row?.kept ?? 0);
}
