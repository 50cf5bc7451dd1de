import { anyOf, type Sql } from '@attribution/database';
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { Customer, DB, Payment } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

/** The sums of one account, one from each table. */
export interface BooksRow extends Pick<Selectable<Customer>, 'account_id' | 'provider_customer_id' | 'last_seq'> {
  readonly ledger_cents: bigint;
  readonly entries_cents: bigint;
  readonly entries: number;
  readonly paid_cents: bigint;
  readonly refunded_cents: bigint;
  readonly unbooked: number;
}

type OfCustomer = ExpressionBuilder<{ c: Customer } & DB, 'c'>;

const totalCents = sql<string>`coalesce(sum(amount_cents), 0)::bigint`;
const rows = sql<number>`count(*)::int`;

const entriesOf = (customer: OfCustomer) =>
  customer
    .selectFrom('money_entries')
    .whereRef('money_entries.account_id', '=', 'c.account_id')
    .select([totalCents.as('entries_cents'), rows.as('entries')])
    .as('e');

/** The money received, and the number of payments that do not match their ledger entry. */
const paymentsOf = (customer: OfCustomer) =>
  customer
    .selectFrom('payments as p')
    .leftJoin('money_entries as m', (join) => join.onRef('m.payment_id', '=', 'p.id').on('m.kind', '=', 'payment'))
    .whereRef('p.account_id', '=', 'c.account_id')
    .where('p.status', '=', 'succeeded')
    .select(({ fn }) => [
      fn.coalesce(fn.sum<string>('p.amount_cents'), sql.lit('0')).as('paid_cents'),
      fn
        .countAll<string>()
        .filterWhere('p.amount_cents', '>', 0)
        .filterWhereRef('m.amount_cents', 'is distinct from', 'p.amount_cents')
        .as('unbooked_payments'),
    ])
    .as('p');

/** The same for refunds, whose ledger entries are negative. */
const refundsOf = (customer: OfCustomer) =>
  customer
    .selectFrom('refunds as r')
    .leftJoin('money_entries as m', (join) => join.onRef('m.refund_id', '=', 'r.id').on('m.kind', '=', 'refund'))
    .whereRef('r.account_id', '=', 'c.account_id')
    .where('r.status', '=', 'succeeded')
    .select(({ fn, neg, ref }) => [
      fn.coalesce(fn.sum<string>('r.amount_cents'), sql.lit('0')).as('refunded_cents'),
      fn
        .countAll<string>()
        .filterWhere('m.amount_cents', 'is distinct from', neg(ref('r.amount_cents')))
        .as('unbooked_refunds'),
    ])
    .as('r');

/** One page of accounts, in the order of their ids. `only` restricts it to the given accounts. */
export async function findBooks(
  tx: Sql,
  { after, limit, only }: { readonly after: string; readonly limit: number; readonly only: readonly string[] | null },
): Promise<BooksRow[]> {
  let customers = db(tx).selectFrom('customers').selectAll().where('account_id', '>', after);
  if (only) customers = customers.where('account_id', '=', anyOf(only));
  const books = await db(tx)
    .selectFrom(customers.orderBy('account_id').limit(limit).as('c'))
    .innerJoinLateral(entriesOf, (join) => join.onTrue())
    .innerJoinLateral(paymentsOf, (join) => join.onTrue())
    .innerJoinLateral(refundsOf, (join) => join.onTrue())
    .select(['c.account_id', 'c.provider_customer_id', 'c.ledger_cents', 'c.last_seq', 'entries_cents', 'entries'])
    .select(['paid_cents', 'unbooked_payments', 'refunded_cents', 'unbooked_refunds'])
    .execute();
  return books.map(({ unbooked_payments, unbooked_refunds, ...row }) => ({
    ...row,
    ledger_cents: BigInt(row.ledger_cents),
    entries_cents: BigInt(row.entries_cents),
    paid_cents: BigInt(row.paid_cents),
    refunded_cents: BigInt(row.refunded_cents),
    unbooked: Number(unbooked_payments) + Number(unbooked_refunds),
  }));
}

/** `refunds_cents` is the sum of the refunds that have not failed. */
export type KeptPayment = Pick<Selectable<Payment>, 'id' | 'status' | 'amount_cents'> & {
  readonly provider_payment_id: string;
  readonly refunds_cents: number;
};

export async function findKeptPayments(tx: Sql, accountId: string): Promise<KeptPayment[]> {
  return db(tx)
    .selectFrom('payments as p')
    .leftJoin('refunds as r', (join) => join.onRef('r.payment_id', '=', 'p.id').on('r.status', '<>', 'failed'))
    .where('p.account_id', '=', accountId)
    .where('p.provider_payment_id', 'is not', null)
    .groupBy('p.id')
    .select(['p.id', 'p.provider_payment_id', 'p.status', 'p.amount_cents'])
    .select(({ ref }) => sql<number>`coalesce(sum(${ref('r.amount_cents')}), 0)::int`.as('refunds_cents'))
    .$narrowType<{ provider_payment_id: string }>()
    .execute();
}

/** The number of notifications that have waited since before this time. */
export async function countWaiting(tx: Sql, before: Date): Promise<number> {
  const { count } = await db(tx)
    .selectFrom('provider_events')
    .select(rows.as('count'))
    .where('due_at', 'is not', null)
    .where('received_at', '<', before)
    .executeTakeFirstOrThrow();
  return count;
}
