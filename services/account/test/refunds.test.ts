import { refundFailed, refundSucceeded } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { atOnce, count, join, type Person, startAccountService } from './support.ts';
import {
  capture,
  entriesOf,
  eventsOf,
  expectPromisesKept,
  expired,
  figuresOf,
  grantOf,
  hold,
  holdId,
  release,
} from './support-ledger.ts';
import { keepJobAway } from './support-locks.ts';
import { buy, holdPurchase, paymentOf, refundOf, refundPaid, refundRefused } from './support-purchases.ts';

let service: TestService;
let ada: Person;
let bought: Awaited<ReturnType<typeof buy>>;
beforeAll(async () => {
  service = await startAccountService();
});
beforeEach(async () => {
  ada = await join(service);
  bought = await buy(service, ada.accountId); // 500 tokens, beside the 1000 of the free plan, which burn first.
});
afterAll(() => service.stop());

const spend = async (amount: number) => capture(service, await holdId(service, ada.accountId, { amount }), amount);
const entries = async (kind: string) =>
  (await entriesOf(service, ada.accountId)).filter((entry) => entry.kind === kind);
const typesSince = async (first: number) =>
  (await eventsOf(service, ada.accountId, 'tokens.')).slice(first).map(({ type }) => type);

/** The ledger entry of a refund of this many tokens; none for 0. */
async function expectTaken(amount: number) {
  expect(await entries('refund')).toMatchObject(
    amount > 0 ? [{ amount: -amount, description: 'Refund: 500 tokens' }] : [],
  );
  await expectPromisesKept(service, ada.accountId);
}

test('a refund with a hold captures it: the tokens of that purchase are taken, and tokens.captured is published', async () => {
  const hold_id = await holdPurchase(service, bought.payment);
  await refundPaid(service, refundOf(bought.payment, { hold_id }));
  await expectTaken(500);
  expect(await grantOf(service, bought.grantId)).toEqual({ remaining: 0, reserved: 0 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
  const [event] = await eventsOf(service, ada.accountId, 'tokens.captured');
  expect(event?.data).toEqual({ account_id: ada.accountId, hold_id, amount: 500 });
});

test('a partial refund with a partial hold leaves the rest', async () => {
  const hold_id = await holdPurchase(service, bought.payment, 200);
  await refundPaid(service, refundOf(bought.payment, { hold_id, token_amount: 200 }));
  await expectTaken(200);
  expect(await grantOf(service, bought.grantId)).toEqual({ remaining: 300, reserved: 0 });
});

test('an overdue hold that the job has not expired yet is still captured, because the money is back', async () => {
  const { id } = (await hold(service, ada.accountId, { payment_id: bought.payment.payment_id, amount: 500 })).body;
  const job = await keepJobAway(service, 'expire-token-holds');
  service.clock.advance({ minutes: 61 });
  await refundPaid(service, refundOf(bought.payment, { hold_id: id }));
  job.end();
  await expectTaken(500);
});

test('a refund without a hold takes the tokens of the purchase, and publishes them as held and captured', async () => {
  await refundPaid(service, refundOf(bought.payment));
  await expectTaken(500);
  expect(await grantOf(service, bought.grantId)).toEqual({ remaining: 0, reserved: 0 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
  expect(await typesSince(2)).toEqual(['tokens.held', 'tokens.captured']);
});

test('a hold cannot take all of a partly spent purchase, and a refund from the provider takes the rest', async () => {
  await spend(1200);
  const fields = { payment_id: bought.payment.payment_id, amount: 500 };
  expect((await hold(service, ada.accountId, fields)).problem?.detail).toBe(
    'The purchase has 300 tokens available; 500 are needed.',
  );
  await refundPaid(service, refundOf(bought.payment));
  await expectTaken(300);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 0, held: 0, available: 0 });
});

test('a refund from the provider takes no tokens that other holds have reserved', async () => {
  await hold(service, ada.accountId, { amount: 1100 });
  await refundPaid(service, refundOf(bought.payment));
  await expectTaken(400);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1100, held: 1100, available: 0 });
});

test('a refund of a spent purchase takes nothing, nor does it when it is published again', async () => {
  const held = await holdId(service, ada.accountId, { amount: 1500 });
  const refund = refundOf(bought.payment);
  await refundPaid(service, refund);
  await release(service, held);
  await refundPaid(service, refund);
  await expectTaken(0);
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ posted: 1500 });
});

test.each(['expired', 'voided'])(
  'a refund whose hold was %s takes the unreserved tokens of the purchase',
  async (how) => {
    const id = await holdPurchase(service, bought.payment);
    if (how === 'voided') await release(service, id);
    else {
      service.clock.advance({ days: 31 });
      await expired(service);
    }
    await spend(1100);
    await refundPaid(service, refundOf(bought.payment, { hold_id: id }));
    await expectTaken(400);
  },
);

test('a refund whose hold was captured before takes no more', async () => {
  const hold_id = await holdPurchase(service, bought.payment, 200);
  await capture(service, hold_id, 200);
  await refundPaid(service, refundOf(bought.payment, { hold_id, token_amount: 200 }));
  await expectTaken(0);
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ posted: 1300 });
});

test('a refund ignores the hold of another account', async () => {
  const other = await join(service);
  const theirs = await holdId(service, other.accountId);
  await refundPaid(service, refundOf(bought.payment, { hold_id: theirs }));
  await refundRefused(service, refundOf(bought.payment, { hold_id: theirs }));
  expect(await figuresOf(service, other.accountId)).toMatchObject({ held: 100 });
  await expectTaken(500);
});

test.each(['with a hold', 'without one'])(
  '20 deliveries at once of one refund %s take its tokens once',
  async (how) => {
    const hold_id = how === 'with a hold' ? await holdPurchase(service, bought.payment, 200) : null;
    const refund = refundOf(bought.payment, { hold_id, token_amount: 200 });
    const delivered = await refundPaid(service, refund);
    await atOnce<unknown>((n) =>
      n % 2 ? service.redeliver(delivered, refundSucceeded.topic.name) : refundPaid(service, refund),
    );
    await expectTaken(200);
    expect(await eventsOf(service, ada.accountId, 'tokens.captured')).toHaveLength(1);
  },
);

test('two refunds of one purchase take their tokens each', async () => {
  for (const token_amount of [200, 300]) await refundPaid(service, refundOf(bought.payment, { token_amount }));
  expect((await entries('refund')).map(({ amount }) => amount)).toEqual([-300, -200]);
});

test('a refund of a payment without tokens takes none', async () => {
  await refundPaid(service, refundOf(paymentOf(ada.accountId)));
  await expectTaken(0);
});

test('a failed refund releases its hold once, and tokens.voided is published', async () => {
  const hold_id = await holdPurchase(service, bought.payment);
  const refund = refundOf(bought.payment, { hold_id });
  await refundRefused(service, refund);
  await refundRefused(service, refund);
  expect(await grantOf(service, bought.grantId)).toEqual({ remaining: 500, reserved: 0 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1500, held: 0, available: 1500 });
  expect(await eventsOf(service, ada.accountId, 'tokens.voided')).toHaveLength(1);
  await expectPromisesKept(service, ada.accountId);
});

test('a failed refund without a hold, or with one that was released before, changes nothing', async () => {
  const hold_id = await holdPurchase(service, bought.payment);
  await release(service, hold_id);
  for (const id of [hold_id, newId('token_hold'), null])
    await refundRefused(service, refundOf(bought.payment, { hold_id: id }));
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1500, held: 0, available: 1500 });
});

test('a reversed refund grants the tokens again that it took, once', async () => {
  await spend(1200);
  const refund = refundOf(bought.payment);
  await refundPaid(service, refund);
  const delivered = await refundRefused(service, refund, true);
  await atOnce<unknown>((n) =>
    n % 2 ? service.redeliver(delivered, refundFailed.topic.name) : refundRefused(service, refund, true),
  );
  expect(await entries('adjustment')).toMatchObject([
    { amount: 300, description: 'Refund that came back: 500 tokens' },
  ]);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 300, held: 0, available: 300 });
  expect((await typesSince(4)).slice(-1)).toEqual(['tokens.granted']);
  await expectPromisesKept(service, ada.accountId);
});

test('a reversed refund that took nothing grants nothing', async () => {
  await spend(1500);
  const refund = refundOf(bought.payment);
  await refundPaid(service, refund);
  await refundRefused(service, refund, true);
  expect(await entries('adjustment')).toEqual([]);
});

test('a refund of a deleted account has no effect, and makes no dead letter', async () => {
  const unknown = paymentOf(newId('account'));
  await refundPaid(service, refundOf(unknown, { hold_id: `hld_${newUuid()}` }));
  for (const reversed of [false, true]) await refundRefused(service, refundOf(unknown), reversed);
  expect(await count(service, 'dead_letters')).toBe(0);
});
