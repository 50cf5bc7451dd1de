import { expect, test } from '@jest/globals';
import type { SubscriptionRow } from '../src/subscriptions/subscription.store.ts';
import { canceledSnapshot, changeTypeOf, isLive, isOver, snapshotOf } from '../src/subscriptions/subscription.ts';

const end = new Date('2026-04-01T00:00:00.250Z');
const row: SubscriptionRow = {
  provider_subscription_id: 'sub_1',
  account_id: 'acc_1',
  plan_key: 'starter',
  status: 'active',
  cancel_at_period_end: false,
  current_period_end: end,
  created_at: new Date('2026-03-01T00:00:00Z'),
};

const price = (amount_cents: number, interval: 'month' | 'year') =>
  ({
    plan_key: `${amount_cents}_${interval}`,
    name: '',
    kind: 'subscription',
    amount_cents,
    currency: 'usd',
    interval,
    token_amount: 1,
    active: true,
  }) as const;
const { year, month } = {
  year: (cents: number) => price(cents, 'year'),
  month: (cents: number) => price(cents, 'month'),
};

test.each([
  [month(4_900), month(19_900), 'upgrade'],
  [month(19_900), month(4_900), 'downgrade'],
  [month(4_900), month(4_901), 'upgrade'],
  [month(4_900), month(4_900), 'downgrade'],
  [month(4_900), year(49_000), 'downgrade'],
  [month(4_900), year(58_800), 'downgrade'],
  [month(4_900), year(58_801), 'upgrade'],
  [year(58_800), month(4_900), 'downgrade'],
  [year(49_000), month(4_900), 'upgrade'],
  [year(49_000), year(199_000), 'upgrade'],
  [year(199_000), year(49_000), 'downgrade'],
  [undefined, month(0), 'upgrade'],
] as const)('from %j to %j is an %s, by what a year costs', (from, to, type) => {
  expect(changeTypeOf(from, to)).toBe(type);
});

test.each<[SubscriptionRow['status'], boolean]>([
  ['incomplete', true],
  ['incomplete_expired', false],
  ['trialing', true],
  ['active', true],
  ['past_due', true],
  ['unpaid', true],
  ['canceled', false],
])('whether a subscription that is %s lives: %p', (status, lives) => {
  expect(isLive({ status })).toBe(lives);
  expect(isOver({ ...row, status }, new Date(0))).toBe(!lives);
});

test('one that is being cancelled is over at the end of its period, to the millisecond; any other is not', () => {
  const before = new Date(end.getTime() - 1);
  const cancelled = { ...row, cancel_at_period_end: true };
  expect([isOver(cancelled, before), isOver(cancelled, end)]).toEqual([false, true]);
  expect(isOver(row, new Date(end.getTime() + 1_000_000))).toBe(false);
  expect(isOver({ ...cancelled, current_period_end: null }, new Date(end.getTime() + 1))).toBe(false);
});

test('a snapshot has three fields', () => {
  const current_period_end = '2026-04-01T00:00:00.250Z';
  expect(snapshotOf(row)).toEqual({ status: 'active', cancel_at_period_end: false, current_period_end });
  expect(snapshotOf({ ...row, current_period_end: null }).current_period_end).toBeNull();
});

test('a canceled snapshot keeps the end of the period, if there was one', () => {
  const canceled = { status: 'canceled', cancel_at_period_end: false };
  expect(canceledSnapshot(undefined)).toEqual({ ...canceled, current_period_end: null });
  expect(canceledSnapshot({ ...row, cancel_at_period_end: true, status: 'incomplete_expired' })).toEqual({
    ...canceled,
    current_period_end: '2026-04-01T00:00:00.250Z',
  });
});
