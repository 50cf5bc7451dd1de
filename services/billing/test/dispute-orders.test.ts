import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { send } from './simulated-support.ts';
import { type Money, startMoney } from './support-money.ts';
import { permutations } from './support-recorded.ts';
import { notification, sendWebhook } from './support-webhooks.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

async function applied(): Promise<void> {
  await eventually(async () => {
    expect(await money.rows('SELECT id FROM provider_events WHERE due_at IS NOT NULL')).toEqual([]);
  });
}

/** An account whose payment was partly refunded at the provider, and whose dispute is lost; nothing of it is known here. */
async function disputed() {
  const tenant = await money.newTenant();
  const page = await money.checkout(tenant, 'tokens_1000');
  await money.pay(page);
  const [customer] = await money.rows(
    'SELECT provider_customer_id AS id FROM customers WHERE account_id = $1',
    tenant.account,
  );
  const [payment] = await Array.fromAsync(money.provider.listPayments(String(customer?.id)));
  if (!payment) throw new Error('It is not paid');
  const asked = { paymentId: payment.id, amountCents: 300, reason: 'duplicate', reference: '' } as const;
  const refund = await money.provider.createRefund(asked, `refund-${payment.id}`);
  for (const action of ['dispute', 'lose']) await send(payment.receipt_url ?? '', { action });
  const disputes: string[] = [];
  for await (const { object } of money.provider.listEvents(new Date(0)))
    if (object.kind === 'dispute' && (await money.provider.getDispute(object.id)).payment_id === payment.id)
      disputes.push(object.id);
  const objects = [
    { object: 'payment_intent', id: payment.id },
    { object: 'refund', id: refund.id },
    { object: 'dispute', id: disputes[0] },
  ];
  return { account: tenant.account, objects };
}

/** The rows of an account, without ids, times and the order of entries. */
const rowsOf = async (account: string) => [
  await money.rows(
    `SELECT status, disputed, amount_cents, refunded_cents, credited_cents, token_amount FROM payments WHERE account_id = $1`,
    account,
  ),
  await money.rows('SELECT amount_cents, token_amount, status, reason FROM refunds WHERE account_id = $1', account),
  await money.rows('SELECT amount_cents, token_amount, status, reason FROM disputes WHERE account_id = $1', account),
  await money.rows('SELECT kind::text, amount_cents FROM money_entries WHERE account_id = $1 ORDER BY 1', account),
  await money.rows('SELECT ledger_cents, last_seq FROM customers WHERE account_id = $1', account),
];

test('every order of the notifications of a payment, its refund and its dispute, each sent twice, leaves the same rows', async () => {
  const outcomes = new Set<string>();
  for (const order of permutations([0, 1, 2])) {
    const { account, objects } = await disputed();
    for (const n of [...order, ...order.toReversed()]) {
      await sendWebhook(money, notification('something.changed', objects[n] ?? {}));
      if (n === 1) await applied();
    }
    await applied();
    outcomes.add(JSON.stringify(await rowsOf(account)));
  }
  expect([...outcomes].map((text) => JSON.parse(text) as unknown)).toEqual([
    [
      [expect.objectContaining({ status: 'succeeded', disputed: true, refunded_cents: 300, token_amount: 1_000 })],
      [{ amount_cents: 300, token_amount: 334, status: 'succeeded', reason: 'duplicate' }],
      [{ amount_cents: 600, token_amount: 667, status: 'lost', reason: 'fraudulent' }],
      [
        { kind: 'dispute', amount_cents: -600 },
        { kind: 'payment', amount_cents: 900 },
        { kind: 'refund', amount_cents: -300 },
      ],
      [{ ledger_cents: '0', last_seq: 3 }],
    ],
  ]);
});
