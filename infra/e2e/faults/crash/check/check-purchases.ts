import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../load/ledger.ts';
import { type Databases, rowsOf } from './databases.ts';
import { indexBy, type Tally } from './tally.ts';

/** By account. */
type Counts = ReadonlyMap<string, number>;

const pages = 'SELECT account_id, count(*)::int AS n FROM checkouts GROUP BY 1';
const payments = `SELECT account_id, count(*)::int AS n FROM payments WHERE status = 'succeeded' GROUP BY 1`;
const entries = 'SELECT account_id, count(*)::int AS n FROM money_entries GROUP BY 1';
const grants = `SELECT account_id, count(*)::int AS n FROM ledger_entries WHERE kind = 'purchase' GROUP BY 1`;

/** Waits until Billing has recorded all payments, at most for `timeoutMs`: the provider repeats notifications that failed. */
export async function untilPaid(ledger: Ledger, databases: Databases, timeoutMs: number): Promise<void> {
  const paid = [...paidBy(ledger)];
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(200)) {
    const seen = await countsOf(databases.billing, payments);
    if (paid.every(([account, { least }]) => (seen.get(account) ?? 0) >= least)) return;
  }
}

/** For each payment made there is one payment row, one entry in the money ledger and one token grant. */
export async function checkPurchases(ledger: Ledger, databases: Databases, tally: Tally): Promise<void> {
  const [paid, booked, granted] = await Promise.all([
    countsOf(databases.billing, payments),
    countsOf(databases.billing, entries),
    countsOf(databases.account, grants),
  ]);
  await checkCheckouts(ledger, databases, tally);
  const expected = paidBy(ledger);
  for (const account of new Set([...expected.keys(), ...paid.keys(), ...booked.keys(), ...granted.keys()])) {
    const { least, most } = expected.get(account) ?? { least: 0, most: 0 };
    const n = paid.get(account) ?? 0;
    if (n < least) tally.lost.push(`${account} paid ${least} times: ${n} payments`);
    if (n > most) tally.doubled.push(`${account} paid at most ${most} times: ${n} payments`);
    for (const [what, counts] of Object.entries({ entries: booked, grants: granted }))
      if (counts.get(account) !== paid.get(account))
        tally.torn.push(`${account} has ${n} payments and ${counts.get(account) ?? 0} ${what}`);
  }
}

/** A checkout page that was requested several times under one key exists once. */
async function checkCheckouts({ checkouts }: Ledger, databases: Databases, tally: Tally): Promise<void> {
  const present = await countsOf(databases.billing, pages);
  for (const [account, requested] of indexBy(checkouts, ({ accountId }) => accountId)) {
    const n = present.get(account) ?? 0;
    const least = requested.filter(({ outcome }) => outcome === 'acknowledged').length;
    if (n < least) tally.lost.push(`${account} was given ${least} pages to pay on: ${n} are known`);
    if (n > requested.length)
      tally.doubled.push(`${account} asked for ${requested.length} pages to pay on: there are ${n}`);
  }
}

/** How often each account has paid at least and at most: a page that did not answer may have been paid. */
function paidBy({ purchases }: Ledger): ReadonlyMap<string, { readonly least: number; readonly most: number }> {
  const byAccount = indexBy(purchases, ({ accountId }) => accountId);
  return new Map(
    [...byAccount].map(([account, list]) => [
      account,
      { least: list.filter(({ outcome }) => outcome === 'acknowledged').length, most: list.length },
    ]),
  );
}

async function countsOf(url: string | undefined, sql: string): Promise<Counts> {
  const rows = await rowsOf<{ account_id: string; n: number }>(url ?? '', sql);
  return new Map(rows.map(({ account_id, n }) => [account_id, n]));
}
