import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sendRaw, startBilling } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startBilling();
});
afterAll(() => service.stop());

async function read(path: string): Promise<unknown> {
  const answer = await sendRaw(service, 'GET', path, personToken());
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  return JSON.parse(answer.text);
}

const subscription = (plan_key: string, name: string, amount_cents: number, token_amount: number) => {
  return { plan_key, name, kind: 'subscription', amount_cents, currency: 'usd', interval: 'month', token_amount };
};
const pack = (token_amount: number, name: string, amount_cents: number) => {
  const plan_key = `tokens_${token_amount}`;
  return { plan_key, name, kind: 'token_pack', amount_cents, currency: 'usd', interval: null, token_amount };
};

const planPrices = [
  subscription('starter', 'Starter', 4_900, 10_000),
  subscription('growth', 'Growth', 19_900, 50_000),
  subscription('enterprise', 'Enterprise', 79_900, 250_000),
  pack(1_000, '1,000 tokens', 900),
  pack(10_000, '10,000 tokens', 7_900),
  pack(100_000, '100,000 tokens', 69_000),
];

const usagePrices = [{ action: 'score_ad', unit: 'ad', token_amount: 10, description: 'Scoring one ad of a campaign' }];

test('200: plan prices are a bare array in catalogue order', async () => {
  expect(await read('/v2/plan-prices')).toEqual(planPrices);
});

test('200: usage prices are a bare array in catalogue order', async () => {
  expect(await read('/v2/usage-prices')).toEqual(usagePrices);
});

test('200: an inactive price is not shown until it is active again', async () => {
  await service.db.query(`UPDATE plan_prices SET active = false WHERE plan_key IN ('growth', 'tokens_1000')`);
  await service.db.query(`UPDATE usage_prices SET active = false WHERE action = 'score_ad'`);
  const shown = planPrices.filter(({ plan_key }) => !['growth', 'tokens_1000'].includes(plan_key));
  expect(await read('/v2/plan-prices')).toEqual(shown);
  expect(await read('/v2/usage-prices')).toEqual(usagePrices.slice(1));
  await service.db.query('UPDATE plan_prices SET active = true');
  await service.db.query('UPDATE usage_prices SET active = true');
  expect(await read('/v2/plan-prices')).toEqual(planPrices);
  expect(await read('/v2/usage-prices')).toEqual(usagePrices);
});

test('200: prices are sorted by position, and a catalogue without active prices is empty', async () => {
  await service.db.query('UPDATE plan_prices SET position = -position');
  await service.db.query('UPDATE usage_prices SET position = -position');
  expect(await read('/v2/plan-prices')).toEqual(planPrices.toReversed());
  expect(await read('/v2/usage-prices')).toEqual(usagePrices.toReversed());
  await service.db.query('UPDATE plan_prices SET position = -position, active = false');
  await service.db.query('UPDATE usage_prices SET position = -position, active = false');
  expect(await read('/v2/plan-prices')).toEqual([]);
  expect(await read('/v2/usage-prices')).toEqual([]);
  await service.db.query('UPDATE plan_prices SET active = true');
  await service.db.query('UPDATE usage_prices SET active = true');
});

test('the catalogue refuses a negative price, and a subscription without an interval', async () => {
  for (const change of [
    'UPDATE plan_prices SET amount_cents = -1',
    'UPDATE plan_prices SET token_amount = -1',
    'UPDATE usage_prices SET token_amount = -1',
    `UPDATE plan_prices SET interval = NULL WHERE plan_key = 'growth'`,
    `UPDATE plan_prices SET interval = 'year' WHERE plan_key = 'tokens_1000'`,
  ]) {
    await expect(service.db.query(change)).rejects.toThrow(/check constraint|stays what it is/);
  }
  const plan = (amount: number, interval: string | null) =>
    service.db.query(
      `INSERT INTO plan_prices (plan_key, name, kind, amount_cents, currency, interval, token_amount, position)
       VALUES ('odd', '', 'subscription', $1, 'usd', $2::"PriceInterval", 1, 9)`,
      [amount, interval],
    );
  await expect(plan(-1, 'month')).rejects.toThrow(/plan_prices_amounts_check/);
  await expect(plan(1, null)).rejects.toThrow(/plan_prices_interval_check/);
});
