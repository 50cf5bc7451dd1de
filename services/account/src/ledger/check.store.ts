import type { Sql } from '@attribution/database';

/** The token sums of one account, one from each table. */
export interface TokenBooks {
  readonly account_id: string;
  /** The posted amount of the balance; null when the account has no balance. */
  readonly posted: bigint | null;
  readonly held: bigint;
  readonly unspent: bigint;
  readonly last_seq: bigint;
  readonly entries_tokens: bigint;
  readonly entries: bigint;
  /** The number of entries that do not follow from their predecessor. */
  readonly stray_entries: number;
  readonly remaining: bigint;
  /**
   * The number of grants that differ from their ledger entry, or whose reserved tokens exceed the remaining or the
   * held ones.
   */
  readonly stray_grants: number;
  readonly pending: bigint;
  /** What the entries of debts took, and what of the debts is paid. */
  readonly debt_tokens: bigint;
  readonly debts_paid: bigint;
}

const sums = [
  'held',
  'unspent',
  'last_seq',
  'entries_tokens',
  'entries',
  'remaining',
  'pending',
  'debt_tokens',
  'debts_paid',
] as const;

/** At most so many accounts after this one, in the order of their ids. */
export async function findAccountIds(
  sql: Sql,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await sql.$queryRaw<{ id: string }[]>`
    SELECT id FROM accounts WHERE id > ${after} ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * The sums of the accounts, in one consistent snapshot. Whether each entry follows from the one before it is first told by
 * a sum that needs no order, with a weight w for each seq: Σ balance_after · (w(seq) − w(seq + 1)) − amount · w(seq) is
 * −posted · w(last + 1) if all do. If they do not, it is so with a chance of 1 in 65,536.
 */
export async function findTokenBooks(sql: Sql, accountIds: readonly string[]): Promise<TokenBooks[]> {
  const rows = await sql.$queryRaw<(TokenBooks & { readonly follows: boolean })[]>`
    SELECT a.id AS account_id, b.posted, coalesce(b.held, 0) AS held, coalesce(b.unspent, 0) AS unspent,
      coalesce(b.last_seq, 0) AS last_seq, e.tokens AS entries_tokens, e.count AS entries,
      e.count = e.last AND e.chain = -e.tokens * (hashint8(e.last + 1) & 65535) AS follows,
      g.remaining, g.stray AS stray_grants, h.pending, e.debts AS debt_tokens, d.paid AS debts_paid
    FROM unnest(${accountIds}::text[]) AS a (id)
    LEFT JOIN balances AS b ON b.account_id = a.id
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0)::bigint AS tokens, count(*) AS count, coalesce(max(seq), 0)::bigint AS last,
        coalesce(sum(balance_after * ((hashint8(seq) & 65535) - (hashint8(seq + 1) & 65535)) - amount * (hashint8(seq) & 65535)), 0) AS chain,
        coalesce(-sum(amount) FILTER (WHERE kind = 'debt'), 0)::bigint AS debts
      FROM ledger_entries WHERE account_id = a.id) AS e
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(g.remaining), 0)::bigint AS remaining, (count(*) FILTER (
          WHERE g.remaining NOT BETWEEN g.reserved AND g.amount OR g.amount IS DISTINCT FROM l.amount OR g.reserved <> (
            SELECT coalesce(sum(amount), 0) FROM token_holds WHERE grant_id = g.entry_id AND status = 'pending'))
        )::int AS stray
      FROM token_grants AS g LEFT JOIN ledger_entries AS l ON l.id = g.entry_id WHERE g.account_id = a.id) AS g
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0)::bigint AS pending
      FROM token_holds WHERE account_id = a.id AND status = 'pending') AS h
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(paid), 0)::bigint AS paid FROM token_debts WHERE account_id = a.id) AS d
    ORDER BY a.id`;
  return Promise.all(
    rows.map(async ({ follows, ...row }) => ({
      ...row,
      ...(Object.fromEntries(sums.map((name) => [name, BigInt(row[name])])) as Pick<TokenBooks, (typeof sums)[number]>),
      posted: row.posted === null ? null : BigInt(row.posted),
      stray_entries: follows ? 0 : await countStrayEntries(sql, row.account_id),
    })),
  );
}

async function countStrayEntries(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.$queryRaw<{ stray: number }[]>`
    SELECT count(*)::int AS stray
    FROM (SELECT seq - lag(seq, 1, 0::bigint) OVER w AS step, balance_after - lag(balance_after, 1, 0::bigint) OVER w - amount AS error
          FROM ledger_entries WHERE account_id = ${accountId} WINDOW w AS (ORDER BY seq)) AS steps
    WHERE step <> 1 OR error <> 0`;
  return row?.stray ?? 0;
}
