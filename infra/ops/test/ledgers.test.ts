import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signup } from '@attribution/contracts';
import { loadService } from '@attribution/registry';
import { startTestService, type TestService, tamper } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type OpenDatabase, openServiceDatabase, ops } from './support.ts';

let service: TestService;
let accountId: string;
let environment: Record<string, string>;
beforeAll(async () => {
  service = await startTestService(await loadService('account'));
  environment = { ACCOUNT_DATABASE_URL: String(service.db.options.connectionString) };
});
afterAll(() => service.stop());
beforeEach(async () => {
  const email = `ada.${Math.random().toString(36).slice(2)}@example.com`;
  const body = { email, password: 'seven quiet lanterns', full_name: 'Ada Lovelace' };
  accountId = (await service.client.call(signup, { body })).body.account_id;
});

test('the exit code is 0 when ledgers agree and 1 on a difference, which is printed with its account; nothing is changed', async () => {
  expect(await ops('ledgers', environment)).toEqual({
    code: 0,
    out: expect.stringMatching(/^account: \d+ accounts: no difference$/),
    err: '',
  });
  await tamper(
    service.db,
    'balances',
    'UPDATE balances SET posted = posted + 1, unspent = unspent + 1 WHERE account_id = $1',
    [accountId],
  );
  const { code, out } = await ops('ledgers account', environment);
  expect(code).toBe(1);
  const lines = out.split('\n');
  expect(lines.slice(0, -1).every((line) => line.startsWith(`account: ${accountId}: the balance says `))).toBe(true);
  expect(lines.at(-1)).toMatch(/accounts: 3 differences$/);
  expect((await ops('ledgers account', environment)).out).toBe(out);
  await tamper(
    service.db,
    'balances',
    'UPDATE balances SET posted = posted - 1, unspent = unspent - 1 WHERE account_id = $1',
    [accountId],
  );
});

test.each([
  [
    'ledger_entries',
    'UPDATE ledger_entries SET balance_after = balance_after + 1 WHERE account_id = $1',
    /1 ledger entries do not follow/,
  ],
  [
    'token_grants',
    'UPDATE token_grants SET remaining = remaining - 1 WHERE account_id = $1',
    /of the grants \d+ tokens are left/,
  ],
  [
    'token_grants',
    'UPDATE token_grants SET amount = amount + 1 WHERE account_id = $1',
    /1 grants are not what their entry gave/,
  ],
  [
    'token_grants',
    'UPDATE token_grants SET reserved = 1 WHERE account_id = $1',
    /1 grants are not what their entry gave/,
  ],
  [
    'token_holds',
    `INSERT INTO token_holds (id, account_id, amount, description, idempotency_key, expires_at, created_at)
     VALUES ('hld_' || $1, $1, 5, '', 'k', now(), now())`,
    /the balance says 0 tokens held, the pending holds 5 tokens/,
  ],
  [
    'balances',
    'UPDATE balances SET last_seq = 7 WHERE account_id = $1',
    /the ledger has 1 entries, the latest is number 7/,
  ],
  ['balances', 'UPDATE balances SET held = posted WHERE account_id = $1', /held, the pending holds 0 tokens/],
])('a change in %s is found: %s', async (table, sql, expected) => {
  await tamper(service.db, table, sql, [accountId]);
  const { code, out } = await ops('ledgers', environment);
  expect([code, out]).toEqual([1, expect.stringMatching(expected)]);
  expect(out).toContain(`account: ${accountId}: `);
  await tamper(service.db, 'accounts', 'SELECT 1');
  for (const emptied of ['token_holds', 'token_grants', 'ledger_entries', 'balances'])
    await tamper(service.db, emptied, `DELETE FROM ${emptied} WHERE account_id = $1`, [accountId]);
  expect((await ops('ledgers', environment)).out).toContain(`${accountId}: it has no balance`);
  await tamper(service.db, 'accounts', 'DELETE FROM accounts WHERE id = $1', [accountId]);
});

test("the money ledger is compared with the provider's file, and the catalogue's prices are created there", async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ops-payments-'));
  const file = join(directory, 'payments.sqlite');
  await writeFile(file, '');
  const billing: OpenDatabase = await openServiceDatabase('billing');
  const both = { ...billing.environment, SIMULATED_PAYMENTS_FILE: file };
  expect((await ops('ledgers billing', both)).out).toBe(
    'billing: 0 accounts and 0 payments (simulated): no difference',
  );
  await billing.rows(
    `INSERT INTO customers (account_id, name, currency, created_at) VALUES ('acc_x', 'X', 'USD', now())`,
  );
  await billing.rows('ALTER TABLE customers DISABLE TRIGGER USER');
  await billing.rows('UPDATE customers SET ledger_cents = 1');
  const { code, out } = await ops('ledgers', both);
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/^billing: acc_x: the ledger says 1 cents, its entries 0 cents$/m),
  ]);

  const dry = await ops('sync-prices --dry-run', billing.environment); // The provider is not asked.
  const keys = dry.out.split('\n').slice(0, -1);
  expect([dry.code, dry.out]).toEqual([0, expect.stringMatching(/(\d+) prices would be at the provider$/)]);
  for (const _ of [1, 2]) {
    const real = await ops('sync-prices', both);
    expect(
      real.out
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split(' ')[0]),
    ).toEqual(keys);
  }
  expect((await ops('ledgers', billing.environment)).err).toContain('set SIMULATED_PAYMENTS_FILE');
  await billing.drop();
  await rm(directory, { recursive: true });
});

test('the command is refused for a service that keeps no ledger', async () => {
  const campaign = await openServiceDatabase('campaign');
  const { code, err } = await ops('ledgers campaign', campaign.environment);
  expect([code, err]).toEqual([2, expect.stringContaining('campaign keeps no ledger')]);
  await campaign.drop();
});
