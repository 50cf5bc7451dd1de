import type { Sql } from '@attribution/database';
import { type Selectable, sql } from 'kysely';
import type { Dispute, Payment, Refund } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

/** The sums of one account, one from each table. */
export interface BooksRow {
  readonly account_id: string;
  readonly provider_customer_id: string | null;
  readonly last_seq: number;
  readonly ledger_cents: bigint;
  readonly entries_cents: bigint;
  readonly entries: number;
  /** Including what invoices used of the store credit. */
  readonly paid_cents: bigint;
  readonly refunded_cents: bigint;
  readonly lost_cents: bigint;
  /** The number of payments, refunds and disputes that do not match their ledger entries. */
  readonly unbooked: number;
  /** Whether it has payments, disputes or store credit of the provider. */
  readonly is_known: boolean;
}

/** The temporary table of the sums. */
interface Books {
  readonly account_id: string;
  readonly provider_customer_id: string | null;
  readonly last_seq: number;
  readonly ledger_cents: string;
  readonly entries_cents: string;
  readonly entries: number;
  readonly paid_cents: string;
  readonly refunded_cents: string;
  readonly lost_cents: string;
  readonly payments_differ: boolean;
  readonly others_unbooked: number;
  readonly is_known: boolean;
}

const rows = sql<number>`count(*)::int`;

/**
 * Sums the rows of each account, of all accounts or of `only` these, as of one moment, into a temporary table of the
 * session. Each table is read once. Whether each payment has its entries is told by a sum of hashes of ids and amounts, which
 * needs no join of them.
 */
export async function sumBooks(session: Sql, only: readonly string[] | null): Promise<void> {
  await session.$executeRaw`
    CREATE TEMPORARY TABLE books AS
    WITH entries AS (
      SELECT account_id, sum(amount_cents) AS cents, count(*)::int AS count,
        sum(hashtextextended(payment_id, amount_cents::bigint * 2 + (kind = 'credit')::int))
          FILTER (WHERE kind IN ('payment', 'credit') AND amount_cents <> 0) AS booked
      FROM money_entries WHERE ${only}::text[] IS NULL OR account_id = ANY(${only}) GROUP BY 1
    ), payments AS (
      SELECT account_id, sum(amount_cents + credit_cents) FILTER (WHERE status = 'succeeded') AS cents,
        sum(hashtextextended(id, amount_cents::bigint * 2)) FILTER (WHERE status = 'succeeded' AND amount_cents <> 0) AS paid,
        sum(hashtextextended(id, credit_cents::bigint * 2 + 1)) FILTER (WHERE status = 'succeeded' AND credit_cents <> 0) AS credited,
        bool_or(provider_payment_id IS NOT NULL) AS is_known
      FROM payments WHERE ${only}::text[] IS NULL OR account_id = ANY(${only}) GROUP BY 1
    ), refunds AS (
      SELECT r.account_id, sum(r.amount_cents) FILTER (WHERE r.status = 'succeeded') AS cents,
        (count(*) FILTER (WHERE r.status = 'succeeded' AND m.amount_cents IS DISTINCT FROM -r.amount_cents))::int AS unbooked,
        bool_or(r.destination = 'store_credit') AS is_known
      FROM refunds AS r LEFT JOIN money_entries AS m ON m.refund_id = r.id AND m.kind = 'refund'
      WHERE ${only}::text[] IS NULL OR r.account_id = ANY(${only}) GROUP BY 1
    ), disputes AS (
      SELECT d.account_id, sum(d.amount_cents) FILTER (WHERE d.status = 'lost') AS cents,
        (count(*) FILTER (WHERE d.status = 'lost' AND m.amount_cents IS DISTINCT FROM -d.amount_cents))::int AS unbooked
      FROM disputes AS d LEFT JOIN money_entries AS m ON m.dispute_id = d.id
      WHERE ${only}::text[] IS NULL OR d.account_id = ANY(${only}) GROUP BY 1
    )
    SELECT c.account_id, c.provider_customer_id, c.last_seq, c.ledger_cents,
      coalesce(e.cents, 0) AS entries_cents, coalesce(e.count, 0) AS entries, coalesce(p.cents, 0) AS paid_cents,
      coalesce(r.cents, 0) AS refunded_cents, coalesce(d.cents, 0) AS lost_cents,
      coalesce(e.booked, 0) <> coalesce(p.paid, 0) + coalesce(p.credited, 0) AS payments_differ,
      coalesce(r.unbooked, 0) + coalesce(d.unbooked, 0) AS others_unbooked,
      coalesce(p.is_known, false) OR coalesce(r.is_known, false) OR d.account_id IS NOT NULL AS is_known
    FROM customers AS c
    LEFT JOIN entries AS e USING (account_id)
    LEFT JOIN payments AS p USING (account_id)
    LEFT JOIN refunds AS r USING (account_id)
    LEFT JOIN disputes AS d USING (account_id)
    WHERE ${only}::text[] IS NULL OR c.account_id = ANY(${only})`;
  await session.$executeRaw`CREATE UNIQUE INDEX ON books (account_id)`;
}

/** At most so many of the sums after this account, in the order of their ids. */
export async function findBooks(
  session: Sql,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<BooksRow[]> {
  const books = await session.$queryRaw<Books[]>`
    SELECT * FROM books WHERE account_id > ${after} ORDER BY account_id LIMIT ${limit}`;
  return Promise.all(
    books.map(async ({ payments_differ, others_unbooked, ...row }) => ({
      ...row,
      ledger_cents: BigInt(row.ledger_cents),
      entries_cents: BigInt(row.entries_cents),
      paid_cents: BigInt(row.paid_cents),
      refunded_cents: BigInt(row.refunded_cents),
      lost_cents: BigInt(row.lost_cents),
      unbooked: others_unbooked + (payments_differ ? await countUnbookedPayments(session, row.account_id) : 0),
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

/** The store credit of the account. */
export async function findCreditBalance(tx: Sql, accountId: string): Promise<number> {
  const customers = db(tx).selectFrom('customers').select('credit_balance_cents').where('account_id', '=', accountId);
  return (await customers.executeTakeFirst())?.credit_balance_cents ?? 0;
}

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
