import { inTwoLanes, pagesOf } from '@attribution/database';
import type { AccountDatabase } from '../store.ts';
import { findAccountIds, findTokenBooks } from './check.store.ts';
import { compareTokenBooks } from './compare.ts';

/** An inconsistency, described for an operator. */
interface TokenDifference {
  readonly accountId: string;
  readonly what: string;
}

interface CheckOptions {
  readonly progress?: (accounts: number) => void;
  /** Ends the check with an error. */
  readonly signal?: AbortSignal;
}

const pageSize = 200;

/**
 * Compares balances, entries, grants and holds, account by account. Database triggers keep them consistent (ADR 13),
 * so a difference means that somebody bypassed the triggers, or that only part of the data was restored.
 */
async function checkTokenLedger(
  { sql }: Pick<AccountDatabase, 'sql'>,
  { progress = () => {}, signal }: CheckOptions,
): Promise<{ readonly accounts: number; readonly differences: readonly TokenDifference[] }> {
  const differences: TokenDifference[] = [];
  let accounts = 0;
  const pages = pagesOf(
    (after) => findAccountIds(sql, { after, limit: pageSize }),
    pageSize,
    (id) => id,
  );
  await inTwoLanes(pages, async (page) => {
    signal?.throwIfAborted();
    for (const books of await findTokenBooks(sql, page)) {
      const found = compareTokenBooks(books);
      differences.push(...found.map((what) => ({ accountId: books.account_id, what })));
    }
    accounts += page.length;
    progress(accounts);
  });
  return { accounts, differences };
}

/** The same, in lines for people. */
export async function checkedTokenLedger(
  database: Pick<AccountDatabase, 'sql'>,
  options: CheckOptions,
): Promise<{ compared: string; faults: readonly string[] }> {
  const { accounts, differences } = await checkTokenLedger(database, options);
  return {
    compared: `${accounts} accounts`,
    faults: differences.map(({ accountId, what }) => `${accountId}: ${what}`),
  };
}
