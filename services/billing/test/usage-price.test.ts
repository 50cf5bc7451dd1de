import { getUsagePrice } from '@attribution/contracts';
import { internalToken, personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startBilling } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startBilling();
});
afterAll(() => service.stop());

const ask = (action: string, token: string | undefined = internalToken('campaign', 'billing')) =>
  service.client.with({ token }).call(getUsagePrice, { params: { action } });

test('200: another service can read the price of an action', async () => {
  const { status, body } = await ask('score_ad');
  const description = 'Scoring one ad of a campaign';
  expect([status, body]).toEqual([200, { action: 'score_ad', unit: 'ad', token_amount: 10, description }]);
});

test('200: a changed price is returned at once', async () => {
  await service.db.query(`UPDATE usage_prices SET token_amount = 12 WHERE action = 'score_ad'`);
  expect((await ask('score_ad')).body.token_amount).toBe(12);
  await service.db.query(`UPDATE usage_prices SET token_amount = 10 WHERE action = 'score_ad'`);
});

test('404: an action without a price, or with an inactive one', async () => {
  await service.db.query(
    `INSERT INTO usage_prices (action, unit, token_amount, description, position, active)
     VALUES ('print_ad', 'ad', 5, 'Printing one ad', 2, false)`,
  );
  const { problem } = await ask('print_ad');
  expect(problem).toMatchObject({ status: 404, kind: 'not-found' });
  for (const action of ['dance', 'SCORE_AD', 'x'.repeat(100), 'x'.repeat(101), "' OR 1=1 --"])
    expect((await ask(action)).problem).toEqual(problem);
  expect((await ask('analyze_media')).problem).toEqual(problem); // Files are processed for nothing.
});

test.each<[string, string | undefined]>([
  ['no token', ''],
  ["a person's token", personToken()],
  ['a token for another service', internalToken('campaign', 'account')],
  ['a token that is none', 'opaque'],
])('401: %s', async (_, token) => {
  expect((await ask('score_ad', token)).problem).toMatchObject({ status: 401, kind: 'unauthorized' });
});
