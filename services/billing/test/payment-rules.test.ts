import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { invoicePayment, packPayment, tokensOf } from '../src/payments/payment.ts';
import type { ProviderInvoice, ProviderPayment } from '../src/provider/index.ts';

const plans = new Map([
  ['starter', { amount_cents: 4_900, token_amount: 10_000 }],
  ['growth', { amount_cents: 19_900, token_amount: 50_000 }],
  ['growth_year', { amount_cents: 199_000, token_amount: 600_000 }],
  ['odd', { amount_cents: 3, token_amount: 10 }],
  ['free', { amount_cents: 0, token_amount: 10_000 }],
  ['tokens_1000', { amount_cents: 900, token_amount: 1_000 }],
]);
const whole = (plan_key: string, amount_cents = plans.get(plan_key)?.amount_cents ?? 0) => {
  return { plan_key, amount_cents, proration: false };
};
const part = (plan_key: string, amount_cents: number) => ({ plan_key, amount_cents, proration: true });

test.each<[string, ProviderInvoice['lines'], number]>([
  ['a whole period grants all of the plan', [whole('starter')], 10_000],
  ['a whole period grants all of it, whatever was paid', [whole('starter', 1)], 10_000],
  ['half of a period grants half', [part('starter', 2_450)], 5_000],
  ['a part that is no whole number is rounded down', [part('odd', 1)], 3],
  ['two parts that are a whole together are one', [part('odd', 1), part('odd', 2)], 10],
  ['an upgrade grants the difference', [part('starter', -4_900), part('growth', 19_900)], 40_000],
  ['an upgrade at half time grants half of it', [part('starter', -2_450), part('growth', 9_950)], 20_000],
  [
    'from a month to a year: all of the year, less the rest of the month',
    [part('starter', -2_450), whole('growth_year')],
    595_000,
  ],
  ['what is given back is never more than nothing', [part('growth_year', -199_000), whole('growth')], 0],
  ['credit alone takes nothing away', [part('starter', -4_900)], 0],
  ['an unknown plan grants nothing', [whole('platinum', 9_999), part('platinum', 9_999)], 0],
  ['an unknown plan does not spoil another', [whole('platinum', 9_999), whole('starter')], 10_000],
  ['a part of a plan that costs nothing grants nothing', [part('free', 100)], 0],
  ['a whole period of a plan that costs nothing grants all', [whole('free')], 10_000],
  ['no lines grant nothing', [], 0],
])('%s', (_, lines, tokens) => {
  expect(tokensOf(lines, plans)).toBe(tokens);
});

test('for every cent of a plan the prorated lines grant their share, rounded down, without rounding errors', () => {
  for (const [plan_key, plan] of [...plans].filter(([key]) => key !== 'free')) {
    for (let cents = 0; cents <= Math.min(plan.amount_cents, 5_000); cents++) {
      const share = (BigInt(plan.token_amount) * BigInt(cents)) / BigInt(plan.amount_cents);
      expect(tokensOf([part(plan_key, cents)], plans)).toBe(Number(share));
    }
  }
});

test('for any lines, tokens are a whole number of at least zero', () => {
  const key = fc.constantFrom(...plans.keys(), 'platinum');
  const line = fc.tuple(key, fc.integer({ min: -200_000, max: 200_000 })).map(([plan, cents]) => part(plan, cents));
  const property = fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
    const tokens = tokensOf(lines, plans);
    expect([Number.isSafeInteger(tokens), tokens >= 0]).toEqual([true, true]);
  });
  fc.assert(property, { numRuns: 2_000 });
});

const at = new Date('2026-03-01T00:00:00Z');
const payment: ProviderPayment = {
  id: 'pi_1',
  customer_id: 'cus_1',
  status: 'succeeded',
  amount_cents: 900,
  disputed: false,
  needs_holder: false,
  refunded_cents: 0,
  currency: 'usd',
  receipt_url: 'https://receipts.test/1',
  failure: null,
  invoice_id: null,
  account_id: 'acc_1',
  plan_key: 'tokens_1000',
  created_at: at,
};
const invoice: ProviderInvoice = {
  id: 'in_1',
  customer_id: 'cus_1',
  subscription_id: 'sub_1',
  status: 'paid',
  reason: 'create',
  total_cents: 4_900,
  amount_paid_cents: 4_900,
  currency: 'usd',
  payment_id: 'pi_1',
  receipt_url: null,
  page_url: null,
  plan_key: 'starter',
  lines: [whole('starter')],
  account_id: 'acc_1',
  created_at: at,
};

test.each(['succeeded', 'pending', 'failed'] as const)('a token pack has the status of its payment: %s', (status) => {
  const update = packPayment({ ...payment, status, failure: 'Declined.' }, plans);
  expect(update).toMatchObject({
    kind: 'token_pack',
    status,
    token_amount: 1_000,
    amount_cents: 900,
    failure: 'Declined.',
  });
  expect([update.provider_payment_id, update.provider_invoice_id]).toEqual(['pi_1', null]);
});

test('a token pack that is not in the catalogue grants no tokens', () => {
  expect(packPayment({ ...payment, plan_key: 'tokens_7' }, plans).token_amount).toBe(0);
});

test.each<[ProviderInvoice['status'], ProviderPayment['status'] | undefined, string | undefined]>([
  ['paid', 'succeeded', 'succeeded'],
  ['paid', undefined, 'succeeded'],
  ['paid', 'failed', 'succeeded'],
  ['open', undefined, undefined],
  ['draft', undefined, undefined],
  ['void', undefined, undefined],
  ['open', 'pending', 'pending'],
  ['open', 'failed', 'failed'],
  ['open', 'succeeded', 'pending'],
  ['void', 'pending', 'failed'],
  ['void', 'failed', 'failed'],
  ['uncollectible', 'failed', 'failed'],
])('an invoice that is %s, with a payment that is %s: %s', (status, paying, state) => {
  const paid = paying && { ...payment, status: paying, amount_cents: 4_000, invoice_id: 'in_1' };
  expect(invoicePayment({ ...invoice, status }, paid, plans)?.status).toBe(state);
});

test('the amount of an invoice is what was paid; before that, the attempted amount; paid by credit only, zero', () => {
  const trying = { ...payment, status: 'failed', amount_cents: 4_000, refunded_cents: 0 } as const;
  const amount = (of: ProviderInvoice, by: ProviderPayment | undefined) => invoicePayment(of, by, plans)?.amount_cents;
  expect(amount(invoice, payment)).toBe(4_900);
  expect(amount({ ...invoice, status: 'open' }, trying)).toBe(4_000);
  expect(amount({ ...invoice, amount_paid_cents: 0, payment_id: null }, undefined)).toBe(0);
});
