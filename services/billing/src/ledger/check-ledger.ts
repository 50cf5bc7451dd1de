import { setTimeout as sleep } from 'node:timers/promises';
import { inTwoLanes, pagesOf } from '@attribution/database';
import { type PaymentProvider, type ProviderDispute, ProviderError } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';
import {
  type BooksRow,
  countWaiting,
  findBooks,
  findCreditBalance,
  findKeptCredits,
  findKeptDisputes,
  findKeptPayments,
  type KeptDispute,
  sumBooks,
} from './check.store.ts';
import { compareBooks, compareCredit, compareDisputes, comparePayments, type Difference } from './compare.ts';

export interface Checked {
  readonly accounts: number;
  readonly payments: number;
  readonly differences: readonly Difference[];
  /** The number of notifications that have waited longer than usual to be applied. */
  readonly waiting: number;
}

interface CheckOptions {
  readonly recheckAfterMs?: number;
  readonly progress?: (accounts: number) => void;
  /** Ends the check with an error. */
  readonly signal?: AbortSignal;
}

const pageSize = 200;
const usual = 10 * 60_000;

/**
 * Compares ledger, payments, refunds and provider, account by account. A change in progress looks like a difference,
 * so accounts with differences are compared again after `recheckAfterMs` milliseconds, and only differences that persist are
 * reported.
 */
export async function checkLedger(
  deps: { readonly database: Pick<BillingDatabase, 'sql' | 'session'>; readonly provider: PaymentProvider },
  { recheckAfterMs = 5_000, progress = () => {}, signal }: CheckOptions = {},
): Promise<Checked> {
  const waiting = await countWaiting(deps.database.sql, new Date(Date.now() - usual));
  const first = await compareAll(deps, null, { progress, signal });
  if (first.differences.length === 0) return { ...first, waiting };
  const accounts = [...new Set(first.differences.map(({ accountId }) => accountId))];
  await sleep(recheckAfterMs, undefined, signal && { signal });
  const again = await compareAll(deps, accounts, { progress: () => {}, signal });
  return { ...first, differences: again.differences, waiting };
}

/** The same, in lines for people. */
export async function checkedLedger(
  deps: Parameters<typeof checkLedger>[0],
  options: CheckOptions,
): Promise<{ compared: string; faults: readonly string[] }> {
  const { accounts, payments, differences, waiting } = await checkLedger(deps, options);
  const late = `${waiting} notifications of the provider have waited for more than ten minutes`;
  return {
    compared: `${accounts} accounts and ${payments} payments (${deps.provider.name})`,
    faults: [...differences.map(({ accountId, what }) => `${accountId}: ${what}`), ...(waiting > 0 ? [late] : [])],
  };
}

/** The sums are those of one moment. What is compared with the provider's is read when the provider is asked. */
async function compareAll(
  { database, provider }: Parameters<typeof checkLedger>[0],
  only: readonly string[] | null,
  { progress, signal }: { progress: (accounts: number) => void; signal: AbortSignal | undefined },
) {
  const differences: Difference[] = [];
  let accounts = 0;
  let payments = 0;
  await database.session(async (session) => {
    await sumBooks(session, only);
    const pages = pagesOf(
      (after) => findBooks(session, { after, limit: pageSize }),
      pageSize,
      (row) => row.account_id,
    );
    await inTwoLanes(pages, async (page) => {
      for (const one of page) {
        signal?.throwIfAborted();
        differences.push(...compareBooks(one).map((what) => ({ accountId: one.account_id, what })));
        if (one.provider_customer_id === null && !one.is_known) continue;
        const { found, reported } = await compareWithProvider({ sql: database.sql, provider }, one);
        differences.push(...found.map((what) => ({ accountId: one.account_id, what })));
        payments += reported;
      }
      accounts += page.length;
      progress(accounts);
    });
  }, signal);
  return { accounts, payments, differences };
}

async function compareWithProvider(
  { sql, provider }: { readonly sql: BillingDatabase['sql']; readonly provider: PaymentProvider },
  books: BooksRow,
): Promise<{ readonly found: readonly string[]; readonly reported: number }> {
  const reported = await providerPayments(provider, books);
  const kept = await findKeptPayments(sql, books.account_id);
  const credited = await providerCredit(provider, books);
  const credit = compareCredit(
    { balance: await findCreditBalance(sql, books.account_id), credits: await findKeptCredits(sql, books.account_id) },
    credited,
  );
  const disputes = await findKeptDisputes(sql, books.account_id);
  const disputed = compareDisputes(disputes, await providerDisputes(provider, disputes), { kept, reported });
  return { found: [...comparePayments(kept, reported), ...disputed, ...credit], reported: reported.length };
}

async function providerDisputes(provider: PaymentProvider, kept: readonly KeptDispute[]): Promise<ProviderDispute[]> {
  const found: ProviderDispute[] = [];
  for (const { id } of kept) {
    const dispute = await provider.getDispute(id).catch((error: unknown) => {
      if (!(error instanceof ProviderError && error.kind === 'not_found')) throw error;
    });
    if (dispute) found.push(dispute);
  }
  return found;
}

async function providerCredit(provider: PaymentProvider, { provider_customer_id: id }: BooksRow) {
  if (id === null) return { balance: 0, credits: [] };
  const { balance_cents } = await provider.getCustomer(id);
  return { balance: 0 - balance_cents, credits: await Array.fromAsync(provider.listCredits(id)) };
}

async function providerPayments(provider: PaymentProvider, { provider_customer_id: id }: BooksRow) {
  return id === null ? [] : Array.fromAsync(provider.listPayments(id));
}
