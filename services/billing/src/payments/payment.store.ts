import type { Sql } from '@attribution/database';
import type { ExpressionBuilder, OnConflictDatabase, OnConflictTables, Selectable } from 'kysely';
import type { DB, Payment } from '../generated/kysely/types.ts';
import { type BillingDatabase, db } from '../store.ts';
import type { PaymentUpdate } from './payment.ts';

export type PaymentRow = Selectable<Payment>;

/** Finds a payment by one of its ids at the provider. */
export async function findPaymentOf(
  tx: Sql,
  { provider_payment_id, provider_invoice_id }: Pick<PaymentUpdate, 'provider_payment_id' | 'provider_invoice_id'>,
): Promise<PaymentRow | undefined> {
  return db(tx)
    .selectFrom('payments')
    .selectAll()
    .where((payment) =>
      payment.or([
        payment('provider_payment_id', '=', provider_payment_id),
        payment('provider_invoice_id', '=', provider_invoice_id),
      ]),
    )
    .executeTakeFirst();
}

type Conflict = ExpressionBuilder<OnConflictDatabase<DB, 'payments'>, OnConflictTables<'payments'>>;

type Amount = 'amount_cents' | 'total_cents' | 'credit_cents' | 'token_amount';

/** Keeps the previous value of a payment that has succeeded. */
const unlessSucceeded = ({ case: when, ref }: Conflict, column: Amount) =>
  when(ref('payments.status'))
    .when('succeeded')
    .then(ref(`payments.${column}`))
    .else(ref(`excluded.${column}`))
    .end();

/** Stores the provider's state of a payment. A payment that has succeeded keeps its amounts. */
export async function putPayment(tx: Sql, id: string, accountId: string, update: PaymentUpdate): Promise<void> {
  const { failure: _, ...columns } = update;
  await db(tx)
    .insertInto('payments')
    .values({ ...columns, id, account_id: accountId })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((payment) => ({
        status: payment.ref('excluded.status'),
        amount_cents: unlessSucceeded(payment, 'amount_cents'),
        total_cents: unlessSucceeded(payment, 'total_cents'),
        credit_cents: unlessSucceeded(payment, 'credit_cents'),
        token_amount: unlessSucceeded(payment, 'token_amount'),
        refunded_cents: payment.ref('excluded.refunded_cents'),
        receipt_url: payment.ref('excluded.receipt_url'),
        asked_holder: payment
          .or([payment.ref('payments.asked_holder'), payment.ref('excluded.asked_holder')])
          .$castTo<boolean>(),
        provider_payment_id: payment.fn.coalesce('excluded.provider_payment_id', 'payments.provider_payment_id'),
        provider_invoice_id: payment.fn.coalesce('excluded.provider_invoice_id', 'payments.provider_invoice_id'),
      })),
    )
    .execute();
}

const paymentsOf = (tx: Sql, accountId: string) =>
  db(tx).selectFrom('payments').selectAll().where('account_id', '=', accountId);

export async function findPayments(
  { sql }: BillingDatabase,
  accountId: string,
  page: { limit: number; before: string | undefined },
): Promise<PaymentRow[]> {
  let payments = paymentsOf(sql, accountId);
  if (page.before !== undefined) payments = payments.where('id', '<', page.before);
  return payments.orderBy('id', 'desc').limit(page.limit).execute();
}

export async function findPayment(
  { sql }: BillingDatabase,
  accountId: string,
  id: string,
): Promise<PaymentRow | undefined> {
  return paymentsOf(sql, accountId).where('id', '=', id).executeTakeFirst();
}

/** Adds what was given back as store credit. */
export async function addCredited(tx: Sql, id: string, cents: number): Promise<void> {
  await db(tx)
    .updateTable('payments')
    .set((payment) => ({ credited_cents: payment('credited_cents', '+', cents) }))
    .where('id', '=', id)
    .execute();
}

export async function lockedPayment(tx: Sql, id: string): Promise<PaymentRow | undefined> {
  return db(tx).selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();
}
