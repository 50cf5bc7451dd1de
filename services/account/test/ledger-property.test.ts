import { invoicePaid, paymentSucceeded } from '@attribution/contracts';
import { keepDeadlocks, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc, { type GeneratorValue } from 'fast-check';
import { count, join, startAccountService, statusesOf } from './support.ts';
import { capture, expectPromisesKept, expired, grant, hold, inFuture, release } from './support-ledger.ts';
import { paymentOf, refundOf, refundPaid, refundRefused } from './support-purchases.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
  await keepDeadlocks(service.db);
});
afterAll(() => service.stop());

/** Draws from fast-check's generators, which report the seed of a run that fails. */
const choicesOf = (draw: GeneratorValue) => ({
  upTo: (most: number) => draw(fc.integer, { min: 1, max: most }),
  oneOf: <T>(items: readonly T[]) => items[draw(fc.nat, { max: Math.max(items.length - 1, 0) })] as T,
});

/** A single run per test, because shrinking would repeat a run of minutes. */
const assertOnce = (attempt: (draw: GeneratorValue) => Promise<void>) =>
  fc.assert(fc.asyncProperty(fc.gen(), attempt), { numRuns: 1, endOnFailure: true });

type Payment = ReturnType<typeof paymentOf>;
type Refund = ReturnType<typeof refundOf>;

/** The result of an event, which has no response. */
const done = { status: 200 };

/** Everything that can be done to an account's tokens, drawn at random; each gives the status it was answered with. */
function operationsOn(accountId: string, draw: GeneratorValue) {
  const { upTo, oneOf } = choicesOf(draw);
  const holds: { id: string; amount: number }[] = [];
  const keys: string[] = ['the same'];
  const payments: Payment[] = [];
  const refunds: Refund[] = [];
  const keyed = () => (upTo(4) === 1 ? { idempotency_key: oneOf(keys) } : {});
  const some = () => oneOf(holds) ?? { id: 'hld_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f', amount: 1 };

  const operations = {
    async grant() {
      const expires_at = upTo(2) === 1 ? inFuture(service, { minutes: upTo(120) }) : null;
      return grant(service, accountId, { amount: upTo(400), priority: upTo(3), expires_at, ...keyed() });
    },
    async hold() {
      const amount = upTo(500);
      const answer = await hold(service, accountId, { amount, expires_in: `${upTo(90)}m`, ...keyed() });
      if (answer.status === 201) holds.push({ id: answer.body.id, amount: answer.body.amount });
      return answer;
    },
    async capture() {
      const { id, amount } = some();
      return capture(service, id, upTo(2) === 1 ? amount : upTo(amount + 10));
    },
    release: async () => release(service, some().id),
    async pay() {
      const payment =
        upTo(4) === 1 && payments.length > 0 ? oneOf(payments) : paymentOf(accountId, { token_amount: upTo(300) - 1 });
      payments.push(payment);
      await service.deliver(oneOf([paymentSucceeded, invoicePaid]), payment, accountId);
      return done;
    },
    async holdPurchase() {
      const { payment_id, token_amount } = oneOf(payments) ?? paymentOf(accountId);
      const fields = { payment_id, amount: upTo(2) === 1 ? token_amount || 1 : upTo(300), expires_in: `${upTo(90)}m` };
      const answer = await hold(service, accountId, { ...fields, ...keyed() });
      if (answer.status === 201) holds.push({ id: answer.body.id, amount: answer.body.amount });
      return answer;
    },
    async refund() {
      const payment = oneOf(payments) ?? paymentOf(accountId);
      const fields = { token_amount: upTo(300) - 1, hold_id: upTo(2) === 1 ? some().id : null };
      const refund = upTo(4) === 1 && refunds.length > 0 ? oneOf(refunds) : refundOf(payment, fields);
      refunds.push(refund);
      await (upTo(3) > 1 ? refundPaid(service, refund) : refundRefused(service, refund, upTo(2) === 1));
      return done;
    },
  };
  const often = [
    ...(['grant', 'hold', 'hold', 'hold', 'capture', 'capture', 'release'] as const),
    ...(['pay', 'holdPurchase', 'holdPurchase', 'refund'] as const),
  ];
  return { upTo, next: async (): Promise<{ status: number }> => operations[oneOf(often)]() };
}

const statuses = [200, 201, 402, 404, 409, 422];

test.each([1, 2])('every invariant of the ledger holds after each of 60 random operations (run %d)', () =>
  assertOnce(async (draw) => {
    const { accountId } = await join(service);
    const { next, upTo } = operationsOn(accountId, draw);
    for (let step = 0; step < 60; step++) {
      const { status } = await next();
      expect(statuses).toContain(status);
      await expectPromisesKept(service, accountId);
      if (upTo(10) === 1) {
        service.clock.advance({ minutes: upTo(60) });
        await expired(service);
        await expectPromisesKept(service, accountId);
      }
    }
  }),
);

test('every invariant of the ledger holds after 200 random operations, 20 at once, none of which deadlock', () =>
  assertOnce(async (draw) => {
    const { accountId } = await join(service);
    const { next, upTo } = operationsOn(accountId, draw);
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(Array.from({ length: 20 }, next));
      for (const status of Object.keys(statusesOf(answers))) expect(statuses).toContain(Number(status));
      await expectPromisesKept(service, accountId);
      if (upTo(3) === 1) service.clock.advance({ minutes: upTo(60) });
    }
    await expired(service);
    await expectPromisesKept(service, accountId);
    expect(await count(service, 'dead_letters')).toBe(0);
  }));
