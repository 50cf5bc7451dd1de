import type { AccountDatabase } from '../store.ts';
import { findTokenBooks } from './check.store.ts';
import { compareTokenBooks } from './compare.ts';

/** Where two that should agree do not, for people. */
export interface TokenDifference {
  readonly accountId: string;
  readonly what: string;
}

const atOnce = 200;

/**
 * Compares balances, entries, grants and holds, account by account. The database keeps them together by itself (ADR 13):
 * a difference is what somebody has done past its triggers, or a restored part.
 */
export async function checkTokenLedger(
  { sql }: Pick<AccountDatabase, 'sql'>,
  { progress = () => {} }: { progress?: (accounts: number) => void } = {},
): Promise<{ readonly accounts: number; readonly differences: readonly TokenDifference[] }> {
  const differences: TokenDifference[] = [];
  let accounts = 0;
  for (let after = ''; ; ) {
    const page = await findTokenBooks(sql, { after, limit: atOnce });
    for (const books of page) {
      const found = compareTokenBooks(books);
      differences.push(...found.map((what) => ({ accountId: books.account_id, what })));
    }
    accounts += page.length;
    progress(accounts);
    const last = page.at(-1);
    if (!last || page.length < atOnce) return { accounts, differences };
    after = last.account_id;
  }
}
