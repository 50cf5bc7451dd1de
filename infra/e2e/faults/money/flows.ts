import { randomUUID } from 'node:crypto';
import { type Client, changePlan, createCheckoutSession } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { withClient } from '../crash/check/databases.ts';
import type { KillStep } from '../crash/kill/kill-at.ts';
import type { Till } from './till.ts';

/** Something that happens to money after it was paid, or before its payer has confirmed it. */
export interface Flow {
  readonly name: string;
  readonly steps: readonly KillStep[];
  /** Prepares an account, and returns what people then do. It can be repeated: what is done stays so. */
  begin(till: Till): Promise<{ readonly account: string; act(): Promise<void> }>;
  /** The figures of the account in the end. */
  readonly expected: object;
  figures(till: Till, account: string): Promise<object>;
}

const press = async (url: string, action: string): Promise<void> => {
  const body = new URLSearchParams({ action });
  await (await fetch(url, { method: 'POST', body, redirect: 'manual' })).arrayBuffer();
};

/** The provider's pages have another port after each start: a new checkout has the present one. */
async function pageAt(owner: Client, path: string): Promise<string> {
  const body = { mode: 'payment', plan_key: 'tokens_1000' } as const;
  return new URL(path, (await owner.call(createCheckoutSession, { body })).body.url).href;
}

const execute = async (url: string, text: string): Promise<void> =>
  withClient(url, async (client) => void (await client.query(text)));

async function figuresOf<T extends object>(
  { databases }: Till,
  service: string,
  sql: string,
  account: string,
): Promise<T> {
  const { rows } = await withClient(databases[service] ?? '', (client) => client.query<T>(sql, [account]));
  return rows[0] ?? ({} as T);
}

const entriesOf = (till: Till, account: string) =>
  figuresOf(
    till,
    'billing',
    `SELECT array_agg(kind || ' ' || amount_cents ORDER BY seq) AS money, sum(amount_cents)::int AS cents FROM money_entries WHERE account_id = $1`,
    account,
  );

/** Spends tokens as a hold that is captured does: the free ones first. */
const spend = (till: Till, account: string, amount: number): Promise<void> =>
  execute(
    till.databases.account ?? '',
    `DO $$ DECLARE made text := 'hld_' || uuidv7(); BEGIN
       INSERT INTO token_holds (id, account_id, amount, description, idempotency_key, expires_at, created_at)
         VALUES (made, '${account}', ${amount}, 'Scores', made, now() + interval '1 hour', now());
       UPDATE token_holds SET status = 'captured', captured_amount = ${amount}, resolved_at = now() WHERE id = made;
       INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
         SELECT 'led_' || uuidv7(), account_id, last_seq + 1, 'capture', -${amount}, posted - ${amount}, 'Scores', made, now()
         FROM balances WHERE account_id = '${account}';
       UPDATE token_grants AS g SET remaining = g.remaining - least(o.remaining, ${amount} - o.before)
         FROM open_grants AS o WHERE o.account_id = '${account}' AND o.before < ${amount} AND g.entry_id = o.entry_id;
     END $$`,
  );

/** A payment of 1,000 tokens, of which 700 are spent, is disputed and lost. */
const dispute: Flow = {
  name: 'dispute',
  steps: [
    { name: 'before the dispute is written', before: 'insert into disputes' },
    { name: 'after the dispute is written, before the commit', after: 'insert into disputes' },
    { name: 'after the dispute is committed', committed: 'insert into disputes' },
    { name: 'before its tokens are held', before: 'insert into token_holds' },
    { name: 'after they are held, before the commit', after: 'insert into token_holds' },
    { name: 'after the hold is committed', committed: 'insert into token_holds' },
    { name: 'before the lost money is written', before: 'insert into money_entries' },
    { name: 'after the lost money is committed', committed: 'insert into money_entries' },
    { name: 'before the tokens are taken', before: 'update token_debts' },
    { name: 'after they are taken, before the commit', after: 'update token_debts' },
    { name: 'after the debt is committed', committed: 'update token_debts' },
  ],
  async begin(till) {
    const { account, owner } = await till.newBuyer();
    await spend(till, account, 1_700);
    const { receipt } = await figuresOf<{ receipt: string }>(
      till,
      'billing',
      'SELECT receipt_url AS receipt FROM payments WHERE account_id = $1',
      account,
    );
    const act = async () => {
      const url = await pageAt(owner, new URL(receipt).pathname);
      await press(url, 'dispute');
      // The hold comes before the decision, so that each step is passed.
      await eventually(async () => {
        const sql = `SELECT count(*)::int AS held FROM token_debts WHERE account_id = $1`;
        const { held } = await figuresOf<{ held: number }>(till, 'account', sql, account);
        if (held === 0) throw new Error('It is not held');
      }, 15_000);
      await press(url, 'lose');
    };
    return { account, act };
  },
  expected: { money: ['payment 900', 'dispute -900'], cents: 0, taken: 300, debt: 700, rows: 1, posted: 0, held: 0 },
  async figures(till, account) {
    const sql = `SELECT posted::int, held::int,
        (SELECT -sum(amount)::int FROM ledger_entries WHERE account_id = b.account_id AND idempotency_key LIKE 'dispute:%') AS taken,
        (SELECT sum(amount)::int FROM token_debts WHERE account_id = b.account_id AND lost) AS debt,
        (SELECT count(*)::int FROM token_debts WHERE account_id = b.account_id) AS rows
      FROM balances AS b WHERE account_id = $1`;
    return { ...(await entriesOf(till, account)), ...(await figuresOf(till, 'account', sql, account)) };
  },
};

/** A refund to store credit whose request is over: the job that finishes refunds does all of it. */
const credit: Flow = {
  name: 'refund to store credit',
  steps: [
    { name: 'before its tokens are held', before: 'insert into token_holds' },
    { name: 'after they are held, before the commit', after: 'insert into token_holds' },
    { name: 'after the hold is committed', committed: 'insert into token_holds' },
    { name: 'before the hold is noted', before: 'update refunds set hold_id' },
    { name: 'after the credit is given', before: 'update customers set credit_balance_cents' },
    { name: 'before the refund is written', before: 'update refunds set status' },
    { name: 'before the ledger entry is written', before: 'insert into money_entries' },
    { name: 'after the refund is committed', committed: 'insert into money_entries' },
    { name: 'before the tokens are taken', before: 'update token_holds' },
    { name: 'after they are taken, before the commit', after: 'update token_holds' },
    { name: 'after that is committed', committed: 'update token_holds' },
  ],
  async begin(till) {
    const { account } = await till.newBuyer();
    const asked = `INSERT INTO refunds (id, account_id, payment_id, amount_cents, token_amount, destination, reason, status, idempotency_key, created_at)
      SELECT 'ref_' || uuidv7(), account_id, id, amount_cents, token_amount, 'store_credit', 'requested_by_customer', 'pending', 'asked', now() - interval '1 minute'
      FROM payments WHERE account_id = '${account}' ON CONFLICT DO NOTHING`;
    return { account, act: () => execute(till.databases.billing ?? '', asked) };
  },
  expected: { money: ['payment 900', 'refund -900'], cents: 0, credit: 900, refunds: 1, posted: 1_000, held: 0 },
  async figures(till, account) {
    const sql = `SELECT credit_balance_cents AS credit,
        (SELECT count(*)::int FROM refunds WHERE account_id = c.account_id AND status = 'succeeded') AS refunds
      FROM customers AS c WHERE account_id = $1`;
    const tokens = 'SELECT posted::int, held::int FROM balances WHERE account_id = $1';
    return {
      ...(await entriesOf(till, account)),
      ...(await figuresOf(till, 'billing', sql, account)),
      ...(await figuresOf(till, 'account', tokens, account)),
    };
  },
};

/** An upgrade whose bank asks for the holder of the card, who confirms it later. */
const waiting: Flow = {
  name: 'upgrade that waits',
  steps: [
    { name: 'before the change is noted', before: 'insert into plan_changes' },
    { name: 'after the change is noted', after: 'insert into plan_changes' },
    { name: 'before the waiting payment is written', before: 'insert into payments' },
    { name: 'after it is written, before the commit', after: 'insert into payments' },
    { name: 'after it is committed', committed: 'insert into payments' },
    { name: 'before its ledger entry is written', before: 'insert into money_entries' },
    { name: 'after that is committed', committed: 'insert into money_entries' },
    { name: 'before the tokens are granted', before: 'insert into token_grants' },
    { name: 'after the grant is committed', committed: 'insert into token_grants' },
  ],
  async begin(till) {
    const { account, owner } = await till.newOwner();
    const body = { mode: 'subscription', plan_key: 'starter' } as const;
    const { url } = (await owner.call(createCheckoutSession, { body })).body;
    await press(url, 'use:authenticates_always');
    await press(url, 'confirm');
    await eventually(async () => {
      const { grants } = await figuresOf<{ grants: number }>(
        till,
        'account',
        `SELECT count(*)::int AS grants FROM ledger_entries WHERE account_id = $1 AND kind = 'purchase'`,
        account,
      );
      if (grants === 0) throw new Error('The tokens of the plan are not there');
    }, 15_000);
    const key = randomUUID();
    const act = async () => {
      const headers = { 'idempotency-key': key };
      const changed = await owner.call(changePlan, { body: { plan_key: 'growth' }, headers });
      if (changed.status >= 500) throw new Error(`changed: ${changed.status}`);
      const waits = await eventually(async () => {
        const sql = `SELECT provider_invoice_id AS invoice, status FROM payments WHERE account_id = $1 AND asked_holder`;
        const found = await figuresOf<{ invoice?: string; status?: string }>(till, 'billing', sql, account);
        if (found.invoice === undefined) throw new Error('Nothing waits');
        return found;
      }, 15_000);
      await press(await pageAt(owner, `/invoices/${waits.invoice}`), 'confirm');
    };
    return { account, act };
  },
  expected: { money: ['payment 4900', 'payment 15000'], cents: 19_900, plan: 'growth', payments: 2, purchases: 2 },
  async figures(till, account) {
    const sql = `SELECT count(*)::int AS payments,
        (SELECT string_agg(plan_key, ' ') FROM subscriptions WHERE account_id = $1 AND status = 'active') AS plan
      FROM payments WHERE account_id = $1 AND status = 'succeeded'`;
    const tokens = `SELECT count(*)::int AS purchases FROM ledger_entries WHERE account_id = $1 AND kind = 'purchase'`;
    return {
      ...(await entriesOf(till, account)),
      ...(await figuresOf(till, 'billing', sql, account)),
      ...(await figuresOf(till, 'account', tokens, account)),
    };
  },
};

export const flows: readonly Flow[] = [dispute, credit, waiting];
