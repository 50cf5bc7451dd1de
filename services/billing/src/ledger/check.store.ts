import { anyOf, type Sql } from '@attribution/database';
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { Customer, DB, Dispute, Payment, Refund } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

/** The sums of one account, one from each table. */
export interface BooksRow
  extends Pick<Selectable<Customer>, 'account_id' | 'provider_customer_id' | 'credit_balance_cents' | 'last_seq'> {
  readonly ledger_cents: bigint;
  readonly entries_cents: bigint;
  readonly entries: number;
  /** Including what invoices used of the store credit. */
  readonly paid_cents: bigint;
  readonly refunded_cents: bigint;
  readonly lost_cents: bigint;
  readonly unbooked: number;
}

type OfCustomer = ExpressionBuilder<{ c: Customer } & DB, 'c'>;

const totalCents = sql<string>`coalesce(sum(amount_cents), 0)::bigint`;
const rows = sql<number>`count(*)::int`;

/**
 * A number for what was booked of a payment, whose sums agree only if each payment has its one entry of that amount: a hash
 * of the id, the amount and whether it is credit. It needs no join of payments with their entries.
 */
const hashed = (id: string, cents: string, isCredit: 0 | 1) =>
  sql`coalesce(sum(hashtextextended(${sql.ref(id)}, ${sql.ref(cents)}::bigint * 2 + ${sql.lit(isCredit)})) filter (where ${sql.ref(cents)} <> 0), 0)`;
const hashedEntries = sql<string>`coalesce(sum(hashtextextended(payment_id, amount_cents::bigint * 2 + (kind = 'credit')::int))
  filter (where kind in ('payment', 'credit') and amount_cents <> 0), 0)`;

const entriesOf = (customer: OfCustomer) =>
  customer
    .selectFrom('money_entries')
    .whereRef('money_entries.account_id', '=', 'c.account_id')
    .select([totalCents.as('entries_cents'), rows.as('entries'), hashedEntries.as('booked')])
    .as('e');

/** The money received. */
const paymentsOf = (customer: OfCustomer) =>
  customer
    .selectFrom('payments as p')
    .whereRef('p.account_id', '=', 'c.account_id')
    .where('p.status', '=', 'succeeded')
    .select(({ fn, eb }) => [
      fn.coalesce(fn.sum<string>(eb('p.amount_cents', '+', eb.ref('p.credit_cents'))), sql.lit('0')).as('paid_cents'),
      sql<string>`${hashed('p.id', 'p.amount_cents', 0)} + ${hashed('p.id', 'p.credit_cents', 1)}`.as('to_book'),
    ])
    .as('p');

/** The money refunded, and the number of refunds that do not match their ledger entry, which is negative. */
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

/** The same for disputes that are lost. */
const lostOf = (customer: OfCustomer) =>
  customer
    .selectFrom('disputes as d')
    .leftJoin('money_entries as m', 'm.dispute_id', 'd.id')
    .whereRef('d.account_id', '=', 'c.account_id')
    .where('d.status', '=', 'lost')
    .select(({ fn, neg, ref }) => [
      fn.coalesce(fn.sum<string>('d.amount_cents'), sql.lit('0')).as('lost_cents'),
      fn
        .countAll<string>()
        .filterWhere('m.amount_cents', 'is distinct from', neg(ref('d.amount_cents')))
        .as('unbooked_disputes'),
    ])
    .as('d');

/** At most so many accounts after this one, in the order of their ids. `only` restricts them to the given accounts. */
export async function findCustomers(
  tx: Sql,
  { after, limit, only }: { readonly after: string; readonly limit: number; readonly only: readonly string[] | null },
): Promise<string[]> {
  let customers = db(tx).selectFrom('customers').select('account_id').where('account_id', '>', after);
  if (only) customers = customers.where('account_id', '=', anyOf(only));
  return (await customers.orderBy('account_id').limit(limit).execute()).map(({ account_id }) => account_id);
}

export async function findBooks(tx: Sql, accountIds: readonly string[]): Promise<BooksRow[]> {
  const books = await db(tx)
    .selectFrom('customers as c')
    .where('c.account_id', '=', anyOf(accountIds))
    .innerJoinLateral(entriesOf, (join) => join.onTrue())
    .innerJoinLateral(paymentsOf, (join) => join.onTrue())
    .innerJoinLateral(refundsOf, (join) => join.onTrue())
    .innerJoinLateral(lostOf, (join) => join.onTrue())
    .select(['c.account_id', 'c.provider_customer_id', 'c.credit_balance_cents', 'c.ledger_cents', 'c.last_seq'])
    .select(['entries_cents', 'entries', 'paid_cents', 'refunded_cents', 'unbooked_refunds', 'lost_cents'])
    .select(['unbooked_disputes', sql<boolean>`booked <> to_book`.as('payments_differ')])
    .orderBy('c.account_id')
    .execute();
  return Promise.all(
    books.map(async ({ unbooked_refunds, unbooked_disputes, payments_differ, ...row }) => ({
      ...row,
      ledger_cents: BigInt(row.ledger_cents),
      entries_cents: BigInt(row.entries_cents),
      paid_cents: BigInt(row.paid_cents),
      refunded_cents: BigInt(row.refunded_cents),
      lost_cents: BigInt(row.lost_cents),
      unbooked:
        Number(unbooked_refunds) +
        Number(unbooked_disputes) +
        (payments_differ ? await countUnbookedPayments(tx, row.account_id) : 0),
    })),
  );
}

/** The number of payments that do not match their ledger entries. */
async function countUnbookedPayments(tx: Sql, accountId: string): Promise<number> {
  const { count } = await db(tx)
    .selectFrom('payments as p')
    .leftJoin('money_entries as m', (join) =>
      join.onRef('m.payment_id', '=', 'p.id').on('m.kind', '=', 'payment').on('m.dispute_id', 'is', null),
    )
    .leftJoin('money_entries as k', (join) =>
      join.onRef('k.payment_id', '=', 'p.id').on('k.kind', '=', 'credit').on('k.dispute_id', 'is', null),
    )
    .where('p.account_id', '=', accountId)
    .where('p.status', '=', 'succeeded')
    .where(({ eb, fn }) =>
      eb.or([
        eb(fn.coalesce('m.amount_cents', sql.lit(0)), '<>', eb.ref('p.amount_cents')),
        eb(fn.coalesce('k.amount_cents', sql.lit(0)), '<>', eb.ref('p.credit_cents')),
      ]),
    )
    .select(rows.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Those of the accounts that have payments, disputes or store credit of the provider. */
export async function findKnownToProvider(tx: Sql, accountIds: readonly string[]): Promise<Set<string>> {
  const payments = db(tx).selectFrom('payments').where('provider_payment_id', 'is not', null);
  const credits = db(tx).selectFrom('refunds').where('destination', '=', 'store_credit');
  const found = await payments
    .select('account_id')
    .where('account_id', '=', anyOf(accountIds))
    .union(credits.select('account_id').where('account_id', '=', anyOf(accountIds)))
    .union(db(tx).selectFrom('disputes').select('account_id').where('account_id', '=', anyOf(accountIds)))
    .execute();
  return new Set(found.map(({ account_id }) => account_id));
}

/** `refunds_cents` is the sum of the refunds to the payment method that have not failed. */
export type KeptPayment = Pick<Selectable<Payment>, 'id' | 'status' | 'amount_cents'> & {
  readonly provider_payment_id: string;
  readonly refunds_cents: number;
};

export async function findKeptPayments(tx: Sql, accountId: string): Promise<KeptPayment[]> {
  return db(tx)
    .selectFrom('payments as p')
    .leftJoin('refunds as r', (join) =>
      join.onRef('r.payment_id', '=', 'p.id').on('r.status', '<>', 'failed').on('r.destination', '=', 'payment_method'),
    )
    .where('p.account_id', '=', accountId)
    .where('p.provider_payment_id', 'is not', null)
    .groupBy('p.id')
    .select(['p.id', 'p.provider_payment_id', 'p.status', 'p.amount_cents'])
    .select(({ ref }) => sql<number>`coalesce(sum(${ref('r.amount_cents')}), 0)::int`.as('refunds_cents'))
    .$narrowType<{ provider_payment_id: string }>()
    .execute();
}

export type KeptDispute = Pick<Selectable<Dispute>, 'id' | 'payment_id' | 'status'>;

export async function findKeptDisputes(tx: Sql, accountId: string): Promise<KeptDispute[]> {
  const disputes = db(tx).selectFrom('disputes').select(['id', 'payment_id', 'status']);
  return disputes.where('account_id', '=', accountId).execute();
}

export type KeptCredit = Pick<Selectable<Refund>, 'id' | 'amount_cents'>;

/** The refunds that were added to the store credit. */
export async function findKeptCredits(tx: Sql, accountId: string): Promise<KeptCredit[]> {
  return db(tx)
    .selectFrom('refunds')
    .select(['id', 'amount_cents'])
    .where('account_id', '=', accountId)
    .where('destination', '=', 'store_credit')
    .where('status', '=', 'succeeded')
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
