import type { AccountDatabase } from '../store.ts';
import { findTokenBooks } from './check.store.ts';
import { compareTokenBooks } from './compare.ts';

/** An inconsistency, described for an operator. */
export interface TokenDifference {
  readonly accountId: string;
  readonly what: string;
}

const pageSize = 200;

/**
 * Compares balances, entries, grants and holds, account by account. Database triggers keep them consistent (ADR 13),
 * so a difference means that somebody bypassed the triggers, or that only part of the data was restored.
 */
export async function checkTokenLedger(
  { sql }: Pick<AccountDatabase, 'sql'>,
  { progress = () => {} }: { progress?: (accounts: number) => void } = {},
): Promise<{ readonly accounts: number; readonly differences: readonly TokenDifference[] }> {
  const differences: TokenDifference[] = [];
  let accounts = 0;
  for (let after = ''; ; ) {
    const page = await findTokenBooks(sql, { after, limit: pageSize });
    for (const books of page) {
      const found = compareTokenBooks(books);
      differences.push(...found.map((what) => ({ accountId: books.account_id, what })));
    }
    accounts += page.length;
    progress(accounts);
    const last = page.at(-1);
    if (!last || page.length < pageSize) return { accounts, differences };
    after = last.account_id;
  }
}
