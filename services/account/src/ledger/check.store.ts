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
}

const sums = ['held', 'unspent', 'last_seq', 'entries_tokens', 'entries', 'remaining', 'pending'] as const;

/** One page of accounts, in the order of their ids, in one consistent snapshot. */
export async function findTokenBooks(
  sql: Sql,
  page: { readonly after: string; readonly limit: number },
): Promise<TokenBooks[]> {
  const rows = await sql.$queryRaw<TokenBooks[]>`
    SELECT a.id AS account_id, b.posted, coalesce(b.held, 0) AS held, coalesce(b.unspent, 0) AS unspent,
      coalesce(b.last_seq, 0) AS last_seq, e.tokens AS entries_tokens, e.count AS entries, e.stray AS stray_entries,
      g.remaining, g.stray AS stray_grants, h.pending
    FROM (SELECT id FROM accounts WHERE id > ${page.after} ORDER BY id LIMIT ${page.limit}) AS a
    LEFT JOIN balances AS b ON b.account_id = a.id
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0)::bigint AS tokens, count(*) AS count,
        (count(*) FILTER (WHERE step <> 1 OR error <> 0))::int AS stray
      FROM (SELECT amount, seq - lag(seq, 1, 0::bigint) OVER w AS step,
              balance_after - lag(balance_after, 1, 0::bigint) OVER w - amount AS error
            FROM ledger_entries WHERE account_id = a.id WINDOW w AS (ORDER BY seq)) AS steps) AS e
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(g.remaining), 0)::bigint AS remaining, (count(*) FILTER (
          WHERE g.remaining NOT BETWEEN g.reserved AND g.amount OR g.amount IS DISTINCT FROM l.amount OR g.reserved <> (
            SELECT coalesce(sum(amount), 0) FROM token_holds WHERE grant_id = g.entry_id AND status = 'pending'))
        )::int AS stray
      FROM token_grants AS g LEFT JOIN ledger_entries AS l ON l.id = g.entry_id WHERE g.account_id = a.id) AS g
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0)::bigint AS pending
      FROM token_holds WHERE account_id = a.id AND status = 'pending') AS h
    ORDER BY a.id`;
  return rows.map((row) => ({
    ...row,
    ...(Object.fromEntries(sums.map((name) => [name, BigInt(row[name])])) as Pick<TokenBooks, (typeof sums)[number]>),
    posted: row.posted === null ? null : BigInt(row.posted),
  }));
}
