import { newId } from '@attribution/ids';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type OpenDatabase, openServiceDatabase, ops } from './support.ts';

let billing: OpenDatabase;
beforeAll(async () => {
  billing = await openServiceDatabase('billing');
});
afterAll(() => billing.drop());

/** An account with subscriptions in these statuses, the oldest first. */
async function subscribed(...statuses: readonly string[]): Promise<string> {
  const account = newId('account');
  await billing.rows(
    `INSERT INTO customers (account_id, name, currency, created_at) VALUES ($1, 'Ada', 'USD', now())`,
    account,
  );
  for (const [at, status] of statuses.entries())
    await billing.rows(
      `INSERT INTO subscriptions (provider_subscription_id, account_id, plan_key, status, cancel_at_period_end, created_at)
       VALUES ($1 || '/' || $2::int, $1, 'plan_' || $2::int, $3, false, now() + make_interval(hours => $2::int))`,
      account,
      at,
      status,
    );
  return account;
}

const waiting = () =>
  billing.rows<{ account_id: string; type: string; data: object }>(
    'SELECT account_id, type, data FROM outbox ORDER BY account_id',
  );

test('the subscription of each account with a plan is published, its latest; a dry run counts and publishes nothing', async () => {
  const [one, several] = [await subscribed('active'), await subscribed('active', 'past_due', 'canceled')];
  await subscribed('canceled');
  await subscribed('incomplete');
  await subscribed();

  const dry = await ops('announce-plans --dry-run', billing.environment);
  expect(dry).toEqual({ code: 0, out: '2 subscriptions would be published', err: '' });
  expect(await waiting()).toEqual([]);

  const real = await ops('announce-plans', billing.environment);
  expect(real).toEqual({ code: 0, out: '2 subscriptions are published', err: '' });
  const event = (account: string, at: number, status: string) => ({
    account_id: account,
    type: 'subscription.updated',
    data: { account_id: account, subscription_id: `${account}/${at}`, plan_key: `plan_${at}`, status },
  });
  expect(await waiting()).toEqual([event(one, 0, 'active'), event(several, 1, 'past_due')]);
});
