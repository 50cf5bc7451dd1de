import type { Sql } from '@attribution/database';
import { type Selectable, sql } from 'kysely';
import type { Checkout, CheckoutStatus } from '../generated/kysely/types.ts';
import { type BillingDatabase, db } from '../store.ts';

export type CheckoutRow = Readonly<Selectable<Checkout>>;

export type NewCheckoutRow = Omit<CheckoutRow, 'status' | 'provider_checkout_id' | 'url'>;

/** Inserts a checkout unless it exists, and returns the stored row. */
export async function putCheckout(database: BillingDatabase, row: NewCheckoutRow): Promise<CheckoutRow> {
  await db(database.sql)
    .insertInto('checkouts')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const found = await findCheckout(database.sql, row.account_id, row.id);
  if (!found) throw new Error(`No checkout ${row.id}`);
  return found;
}

const checkoutsOf = (tx: Sql, accountId: string) =>
  db(tx).selectFrom('checkouts').selectAll().where('account_id', '=', accountId);

export async function findCheckout(tx: Sql, accountId: string, id: string): Promise<CheckoutRow | undefined> {
  return checkoutsOf(tx, accountId).where('id', '=', id).executeTakeFirst();
}

/** Open checkouts that would start a subscription for the account, newest first. */
export async function findOpenSubscriptions(tx: Sql, accountId: string): Promise<CheckoutRow[]> {
  const open = checkoutsOf(tx, accountId).where('mode', '=', 'subscription').where('status', '=', 'open');
  return open.orderBy('id', 'desc').execute();
}

/** Updates the checkout to its state at the provider. A final status does not change any more. */
export async function setCheckout(
  tx: Sql,
  id: string,
  now: { readonly providerId: string; readonly url: string | null; readonly status: CheckoutStatus },
): Promise<void> {
  await db(tx)
    .updateTable('checkouts')
    .set(({ fn, ref, val, case: when }) => ({
      provider_checkout_id: now.providerId,
      url: fn.coalesce(val(now.url), ref('url')),
      status: when('status')
        .when('open')
        .then(sql<CheckoutStatus>`${now.status}::"CheckoutStatus"`)
        .else(ref('status'))
        .end(),
    }))
    .where('id', '=', id)
    .execute();
}
