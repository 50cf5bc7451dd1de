import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentProvider } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';
import { type BooksRow, countWaiting, findBooks, findKeptPayments } from './check.store.ts';
import { compareBooks, comparePayments, type Difference } from './compare.ts';

export interface Checked {
  readonly accounts: number;
  readonly payments: number;
  readonly differences: readonly Difference[];
  /** The number of notifications that have waited longer than usual to be applied. */
  readonly waiting: number;
}

const pageSize = 200;
const usual = 10 * 60_000;

/**
 * Compares ledger, payments, refunds and provider, account by account. A change in progress looks like a difference,
 * so accounts with differences are compared again after `recheckAfterMs` milliseconds, and only differences that persist are
 * reported.
 */
export async function checkLedger(
  deps: { readonly database: Pick<BillingDatabase, 'sql'>; readonly provider: PaymentProvider },
  {
    recheckAfterMs = 5_000,
    progress = () => {},
  }: { recheckAfterMs?: number; progress?: (accounts: number) => void } = {},
): Promise<Checked> {
  const waiting = await countWaiting(deps.database.sql, new Date(Date.now() - usual));
  const first = await compareAll(deps, null, progress);
  if (first.differences.length === 0) return { ...first, waiting };
  await sleep(recheckAfterMs);
  const again = await compareAll(deps, [...new Set(first.differences.map(({ accountId }) => accountId))], () => {});
  return { ...first, differences: again.differences, waiting };
}

async function compareAll(
  { database: { sql }, provider }: { database: Pick<BillingDatabase, 'sql'>; provider: PaymentProvider },
  only: readonly string[] | null,
  progress: (accounts: number) => void,
) {
  const differences: Difference[] = [];
  let accounts = 0;
  let payments = 0;
  for (let after = ''; ; ) {
    const page = await findBooks(sql, { after, limit: pageSize, only });
    for (const books of page) {
      const reported = await providerPayments(provider, books);
      const kept = await findKeptPayments(sql, books.account_id);
      const found = [...compareBooks(books), ...comparePayments(kept, reported)];
      differences.push(...found.map((what) => ({ accountId: books.account_id, what })));
      payments += reported.length;
    }
    accounts += page.length;
    progress(accounts);
    const last = page.at(-1);
    if (!last || page.length < pageSize) return { accounts, payments, differences };
    after = last.account_id;
  }
}

async function providerPayments(provider: PaymentProvider, { provider_customer_id: id }: BooksRow) {
  return id === null ? [] : Array.fromAsync(provider.listPayments(id));
}
