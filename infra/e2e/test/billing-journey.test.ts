import {
  cancelSubscription,
  changePlan,
  createRefund,
  getBillingSummary,
  listPaymentMethods,
  resumeSubscription,
} from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { billingJourneys } from './journeys/billing.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';
import { buy, saveCard } from './support-billing.ts';
import { free, moneyOn } from './support-money.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

billingJourneys(() => platform);

// The following tests take weeks by the platform's clock, which can only be moved when the platform runs in this process.
const { newAccount, untilMail, untilQuiet } = moneyOn(() => platform);

test('an upgrade is charged for the rest of the month; a cancelled plan ends with its month, and another one may follow', async () => {
  const account = await newAccount();
  const { client } = account;
  const change = (plan_key: string) => client.call(changePlan, { body: { plan_key } });
  const first = await buy(client, 'starter');
  const current_period_end = (await account.subscription())?.current_period_end ?? '';
  const [start, end] = [Date.parse(first.created_at), Date.parse(current_period_end)];
  await eventually(async () => expect(await account.available()).toBe(free + 10_000));

  platform.clock.advance({ days: 10 });
  const left = (end - platform.clock.now().getTime()) / (end - start);
  expect((await change('growth')).body).toMatchObject({ change_type: 'upgrade', current_period_end });
  const prorated = await account.upgradePayment();
  const tokensOfUpgrade = prorated?.token_amount ?? 0;
  // Seconds and cents are rounded.
  expect(Math.abs((prorated?.amount_cents ?? 0) - (19_900 - 4_900) * left)).toBeLessThan(5);
  expect(Math.abs(tokensOfUpgrade - (50_000 - 10_000) * left)).toBeLessThan(5);
  const tokens = free + 10_000 + tokensOfUpgrade;
  await eventually(async () => expect(await account.available()).toBe(tokens));

  expect((await change('starter')).body).toMatchObject({ change_type: 'downgrade', current_period_end });
  await client.call(cancelSubscription);
  platform.clock.advance({ days: 31 });
  expect((await client.call(resumeSubscription)).status).toBe(404);
  await eventually(async () =>
    expect(await account.subscription()).toMatchObject({ plan_key: 'starter', status: 'canceled' }),
  );
  expect((await client.call(resumeSubscription)).status).toBe(404);
  expect((await change('growth')).status).toBe(404);
  const ended = { status: 'canceled', cancel_at_period_end: false, current_period_end };
  expect((await client.call(cancelSubscription)).body).toEqual(ended);
  expect(await account.payments()).toHaveLength(2);
  expect(await account.available()).toBe(tokens);

  expect(await buy(client, 'growth')).toMatchObject({ amount_cents: 19_900, token_amount: 50_000 });
  expect(await account.subscription()).toMatchObject({ plan_key: 'growth', status: 'active' });
  await eventually(async () => expect(await account.available()).toBe(tokens + 50_000));
  const amounts = (await account.moneyEntries()).map(({ seq, amount_cents }) => [seq, amount_cents]);
  expect(amounts).toEqual([
    [3, 19_900],
    [2, prorated?.amount_cents],
    [1, 4_900],
  ]);
});
test('a subscription is renewed after a month, and its tokens are granted again', async () => {
  const account = await newAccount();
  await buy(account.client, 'starter');
  const before = await account.subscription();
  platform.clock.advance({ days: 31 });
  await eventually(async () => expect(await account.available()).toBe(free + 20_000));
  expect(await account.payments()).toMatchObject([
    { status: 'succeeded', amount_cents: 4_900, token_amount: 10_000 },
    { status: 'succeeded' },
  ]);
  expect(await account.moneyEntries()).toMatchObject([{ seq: 2, balance_after_cents: 9_800 }, { seq: 1 }]);
  await untilQuiet();
  const after = await account.subscription();
  expect(after).toMatchObject({ plan_key: 'starter', status: 'active' });
  expect(Date.parse(after?.current_period_end ?? '')).toBeGreaterThan(Date.parse(before?.current_period_end ?? ''));
  await untilMail(account.email, ['Your receipt: $49.00', 'Your receipt: $49.00']);
});

test('a refund to store credit pays the next renewal, and the summary and the ledger say so to the cent', async () => {
  const account = await newAccount();
  const { client } = account;
  const pack = await buy(client, 'tokens_1000');
  await buy(client, 'starter');
  await eventually(async () => expect(await account.available()).toBe(free + 11_000));
  const body = {
    account_id: account.account_id,
    payment_id: pack.id,
    idempotency_key: newUuid(),
    destination: 'store_credit',
  } as const;
  const made = await platform.inside('billing', 'billing').call(createRefund, { body });
  expect(made.body).toMatchObject({ destination: 'store_credit', amount_cents: 900, token_amount: 1_000 });
  expect((await client.call(getBillingSummary)).body).toMatchObject({ credit_balance_cents: 900 });
  expect(await account.available()).toBe(free + 10_000);
  const amounts = async () =>
    (await account.moneyEntries()).map(({ kind, amount_cents, balance_after_cents }) => [
      kind,
      amount_cents,
      balance_after_cents,
    ]);
  const before = [
    ['refund', -900, 4_900],
    ['payment', 4_900, 5_800],
    ['payment', 900, 900],
  ];
  expect(await amounts()).toEqual(before);

  platform.clock.advance({ days: 31 });
  await eventually(async () => expect(await account.available()).toBe(free + 20_000));
  expect(await amounts()).toEqual([['credit', 900, 9_800], ['payment', 4_000, 8_900], ...before]);
  expect((await account.payments()).map(({ amount_cents, status }) => [amount_cents, status])).toEqual([
    [4_000, 'succeeded'],
    [4_900, 'succeeded'],
    [900, 'refunded'],
  ]);
  expect((await client.call(getBillingSummary)).body).toMatchObject({ credit_balance_cents: 0 });
  await untilMail(account.email, [
    'Your receipt: $9.00',
    'Your receipt: $49.00',
    'Your refund: $9.00 of store credit',
    'Your receipt: $40.00',
  ]);
});

test('a renewal that fails leaves the subscription past due, without tokens, until a card pays it', async () => {
  const account = await newAccount();
  const { client } = account;
  await buy(client, 'starter', 'fails later');
  await eventually(async () => expect(await account.available()).toBe(free + 10_000));
  platform.clock.advance({ days: 31 });
  await eventually(async () =>
    expect(await account.subscription()).toMatchObject({ plan_key: 'starter', status: 'past_due' }),
  );
  await untilMail(account.email, ['Your receipt: $49.00', 'Your payment of $49.00 failed']);
  await untilQuiet();
  expect(await account.payments()).toMatchObject([{ status: 'failed', receipt_url: null }, { status: 'succeeded' }]);
  expect(await account.available()).toBe(free + 10_000);
  expect(await account.moneyEntries()).toHaveLength(1);
  expect((await client.call(changePlan, { body: { plan_key: 'growth' } })).status).toBe(409);

  const card = await saveCard(client);
  const cards = (await client.call(listPaymentMethods)).body.map(({ id, is_default }) => [id, is_default]);
  expect(cards).toHaveLength(2);
  expect(cards).toContainEqual([card, true]);
  platform.clock.advance({ days: 4 });
  await eventually(async () => expect(await account.available()).toBe(free + 20_000));
  await eventually(async () => expect(await account.subscription()).toMatchObject({ status: 'active' }));
  expect(await account.payments()).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
});
