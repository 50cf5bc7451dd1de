import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { refundable, tokensBack } from '../src/refunds/refund.ts';

test.each<[number, number, number, number, number]>([
  [900, 1_000, 0, 900, 1_000],
  [900, 1_000, 0, 450, 500],
  [900, 1_000, 450, 450, 500],
  [3, 10, 0, 1, 4],
  [3, 10, 1, 1, 3],
  [3, 10, 2, 1, 3],
  [1_000, 1, 0, 1, 1],
  [1_000, 1, 1, 999, 0],
  [900, 0, 0, 900, 0],
])(
  'of %d cents and %d tokens, with %d cents refunded: %d more take %d tokens',
  (total_cents, token_amount, before, cents, back) => {
    expect(tokensBack({ total_cents, token_amount }, before, cents)).toBe(back);
  },
);

test.each<[number, number, number, number, number, number]>([
  [900, 900, 0, 0, 900, 900],
  [900, 900, 300, 0, 600, 600],
  [900, 900, 300, 300, 600, 600],
  [4_000, 4_900, 0, 0, 4_000, 4_900],
  [4_000, 4_900, 900, 900, 4_000, 4_000],
  [4_000, 4_900, 4_000, 0, 0, 900],
  [0, 4_900, 0, 0, 0, 4_900],
])(
  'of %d cents paid by card of %d, after refunds of %d, of which %d as credit: %d go to the card, %d to credit',
  (amount_cents, total_cents, all, credited, toCard, toCredit) => {
    const paid = { amount_cents, total_cents };
    expect(refundable(paid, { all, credited }, 'payment_method')).toBe(toCard);
    expect(refundable(paid, { all, credited }, 'store_credit')).toBe(toCredit);
  },
);

test('however a payment is split into refunds, they take all of its tokens, none negative, and never too few', () => {
  const payment = fc.record({
    total_cents: fc.integer({ min: 1, max: 100_000 }),
    token_amount: fc.integer({ min: 0, max: 1_000_000 }),
  });
  /** Each number is taken modulo the rest; the last part is the whole rest. */
  const parts = fc.array(fc.nat({ max: 100_000 }), { maxLength: 20 });
  const property = fc.property(payment, parts, (paid, drawn) => {
    let before = 0;
    let tokens = 0;
    for (let at = 0; before < paid.total_cents; at++) {
      const left = paid.total_cents - before;
      const cents = at < drawn.length ? 1 + ((drawn[at] ?? 0) % left) : left;
      const back = tokensBack(paid, before, cents);
      before += cents;
      tokens += back;
      expect(back).toBeGreaterThanOrEqual(0);
      expect(tokens * paid.total_cents).toBeGreaterThanOrEqual(paid.token_amount * before);
    }
    expect(tokens).toBe(paid.token_amount);
  });
  fc.assert(property, { numRuns: 3_000 });
});

test('cent by cent it is the same', () => {
  const paid = { total_cents: 4_900, token_amount: 10_000 };
  let tokens = 0;
  for (let before = 0; before < paid.total_cents; before++) tokens += tokensBack(paid, before, 1);
  expect(tokens).toBe(10_000);
});

test('the largest numbers that a column can hold are computed exactly', () => {
  const most = 2_147_483_647;
  const paid = { total_cents: most, token_amount: most };
  expect(tokensBack(paid, 0, most)).toBe(most);
  expect(tokensBack(paid, most - 1, 1)).toBe(1);
  expect(tokensBack({ total_cents: most, token_amount: most - 1 }, 0, most - 1)).toBe(most - 1);
});

test('when a payment was mostly paid from credit, refunding the card’s share takes back only that share', () => {
  expect(tokensBack({ total_cents: 4_900, token_amount: 10_000 }, 0, 100)).toBe(205);
});
