import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ProviderRefund } from '../src/provider/index.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';
import { notification, sendWebhook } from './support-webhooks.ts';

/** A bank that rejects refunds, which the simulated provider does not have. */
let bankStatus: ProviderRefund['status'] | undefined;
let money: Money;
beforeAll(async () => {
  money = await startMoney({
    between: (provider) => ({
      ...provider,
      async getRefund(id) {
        const refund = await provider.getRefund(id);
        return { ...refund, status: bankStatus ?? refund.status };
      },
    }),
  });
});
beforeEach(() => {
  bankStatus = undefined;
});
afterAll(() => money.stop());

async function buyer() {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000');
  return tenant;
}
/** Changes the status of the refund at the bank, and delivers the notification. */
async function say(tenant: Tenant, status: ProviderRefund['status']) {
  bankStatus = status;
  const [row] = await money.rows('SELECT provider_refund_id AS id FROM refunds WHERE account_id = $1', tenant.account);
  await sendWebhook(money, notification('refund.updated', { id: row?.id, object: 'refund' }));
  await money.settle();
}
const statuses = async (tenant: Tenant) => (await money.refundsOf(tenant)).map(({ status }) => status);
const entries = async (tenant: Tenant) =>
  (await money.entriesOf(tenant)).map(({ kind, balance_after_cents }) => `${kind} ${balance_after_cents}`);
const refundEvents = async (tenant: Tenant, count: number) =>
  (await money.events(tenant, count))
    .filter(({ type }) => type.startsWith('refund.'))
    .map(({ type, data }) => [type, (data as { reversed?: boolean }).reversed]);

test('a refund that waits for a bank is pending, and neither posted nor published until it has succeeded', async () => {
  const tenant = await buyer();
  bankStatus = 'pending';
  expect((await money.refund(tenant)).body.status).toBe('pending');
  await money.settle();
  expect([await entries(tenant), await refundEvents(tenant, 1)]).toEqual([['payment 900'], []]);
  expect((await money.refund(tenant, { amount_cents: 1 })).status).toBe(422);
  await say(tenant, 'succeeded');
  await say(tenant, 'succeeded');
  expect([await statuses(tenant), await entries(tenant)]).toEqual([['succeeded'], ['refund 0', 'payment 900']]);
  expect(await refundEvents(tenant, 2)).toEqual([['refund.succeeded', undefined]]);
});

test.each(['failed', 'canceled'] as const)(
  'a pending refund that becomes %s has failed, and was never posted',
  async (end) => {
    const tenant = await buyer();
    bankStatus = 'pending';
    await money.refund(tenant);
    await say(tenant, end);
    await say(tenant, end);
    expect([await statuses(tenant), await entries(tenant)]).toEqual([['failed'], ['payment 900']]);
    expect(await refundEvents(tenant, 2)).toEqual([['refund.failed', false]]);
  },
);

test('a refund that is sent back after it had succeeded is booked back and told as reversed, once', async () => {
  const tenant = await buyer();
  await money.refund(tenant);
  await money.settle();
  await say(tenant, 'failed');
  await say(tenant, 'failed');
  expect([await statuses(tenant), await entries(tenant)]).toEqual([
    ['failed'],
    ['adjustment 900', 'refund 0', 'payment 900'],
  ]);
  expect(await refundEvents(tenant, 3)).toEqual([
    ['refund.succeeded', undefined],
    ['refund.failed', true],
  ]);
});

test('a failed refund stays failed, and a succeeded one does not become pending again', async () => {
  const [failed, succeeded] = [await buyer(), await buyer()];
  bankStatus = 'failed';
  await money.refund(failed);
  await say(failed, 'succeeded');
  expect([await statuses(failed), await entries(failed)]).toEqual([['failed'], ['payment 900']]);
  await money.refund(succeeded);
  await say(succeeded, 'pending');
  expect([await statuses(succeeded), await entries(succeeded)]).toEqual([['succeeded'], ['refund 0', 'payment 900']]);
});
