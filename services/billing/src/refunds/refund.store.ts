import type { Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { Refund, RefundStatus } from '../generated/kysely/types.ts';
import type { ProviderRefund } from '../provider/index.ts';
import { type BillingDatabase, db } from '../store.ts';
import type { Returned } from './refund.ts';

export type RefundRow = Selectable<Refund>;

const refunds = (tx: Sql) => db(tx).selectFrom('refunds').selectAll();

export async function insertRefund(tx: Sql, row: RefundRow): Promise<void> {
  await db(tx).insertInto('refunds').values(row).execute();
}

export async function findRefundByKey(tx: Sql, paymentId: string, key: string): Promise<RefundRow | undefined> {
  return refunds(tx).where('payment_id', '=', paymentId).where('idempotency_key', '=', key).executeTakeFirst();
}

/** Finds the row of a refund at the provider, by its id there or by our id, which is the reference. */
export async function findRefundOf(tx: Sql, { id, reference }: ProviderRefund): Promise<RefundRow | undefined> {
  return refunds(tx)
    .where((refund) => refund.or([refund('provider_refund_id', '=', id), refund('id', '=', reference)]))
    .executeTakeFirst();
}

export async function findRefund(tx: Sql, id: string): Promise<RefundRow | undefined> {
  return refunds(tx).where('id', '=', id).executeTakeFirst();
}

/** What of a payment has been refunded, or is about to be, in cents; `credited` of it as store credit. */
export async function sumRefunds(tx: Sql, paymentId: string): Promise<Returned> {
  const { all, credited } = await db(tx)
    .selectFrom('refunds')
    .select(({ fn }) => [
      fn.sum<string | null>('amount_cents').as('all'),
      fn.sum<string | null>('amount_cents').filterWhere('destination', '=', 'store_credit').as('credited'),
    ])
    .where('payment_id', '=', paymentId)
    .where('status', '<>', 'failed')
    .executeTakeFirstOrThrow();
  return { all: Number(all ?? 0), credited: Number(credited ?? 0) };
}

export async function setHold(tx: Sql, id: string, holdId: string): Promise<void> {
  const hold = db(tx).updateTable('refunds').set({ hold_id: holdId }).where('id', '=', id);
  const { numUpdatedRows } = await hold.executeTakeFirstOrThrow();
  // A concurrent request has found that the refund is refused, and has deleted it.
  if (numUpdatedRows === 0n) throw new Error(`No refund ${id}`);
}

export async function setRefund(
  tx: Sql,
  id: string,
  to: { readonly status: RefundStatus; readonly providerId: string | null },
): Promise<void> {
  await db(tx)
    .updateTable('refunds')
    .set(({ fn, val, ref }) => ({
      status: to.status,
      provider_refund_id: fn.coalesce(val(to.providerId), ref('provider_refund_id')),
    }))
    .where('id', '=', id)
    .execute();
}

/** Deletes a refund that has not been sent to the provider. */
export async function deleteRefund(tx: Sql, id: string): Promise<void> {
  await db(tx)
    .deleteFrom('refunds')
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('hold_id', 'is', null)
    .where('provider_refund_id', 'is', null)
    .execute();
}

/** Refunds without a response of the provider that are older than any request. */
export async function findUnfinished({ sql }: BillingDatabase, before: Date, limit: number): Promise<RefundRow[]> {
  return refunds(sql)
    .where('status', '=', 'pending')
    .where('provider_refund_id', 'is', null)
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .execute();
}

export async function findRefunds(
  { sql }: BillingDatabase,
  accountId: string,
  page: { limit: number; before: string | undefined },
): Promise<RefundRow[]> {
  let found = refunds(sql).where('account_id', '=', accountId);
  if (page.before !== undefined) found = found.where('id', '<', page.before);
  return found.orderBy('id', 'desc').limit(page.limit).execute();
}
