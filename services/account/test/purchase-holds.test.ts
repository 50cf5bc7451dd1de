import { closeAccount, getBalance } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { type TestService, untilServed } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { atOnce, count, join, type Person, rows, startAccountService, statusesOf } from './support.ts';
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
  leftOf,
  release,
} from './support-ledger.ts';
import { buy, holdPurchase, paymentOf } from './support-purchases.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
});
beforeEach(async () => {
  ada = await join(service); // With 1000 tokens of the free plan, which burn first.
});
afterAll(() => service.stop());

const bought = (tokens = 500) => buy(service, ada.accountId, { token_amount: tokens });

/** A purchase with an expiry, which Billing does not sell yet. */
async function boughtForAnHour() {
  const { payment, grantId } = await bought();
  await service.db.query('ALTER TABLE token_grants DISABLE TRIGGER token_grants_burn');
  const soon = new Date(service.clock.now().getTime() + 60 * 60_000);
  await service.db.query('UPDATE token_grants SET expires_at = $2, priority = 1 WHERE entry_id = $1', [grantId, soon]);
  await service.db.query('ALTER TABLE token_grants ENABLE TRIGGER token_grants_burn');
  return { payment, grantId };
}

test('201: the tokens of that purchase are reserved, and tokens.held is published', async () => {
  const { payment, grantId } = await bought();
  const { status, body } = await hold(service, ada.accountId, { payment_id: payment.payment_id, amount: 200 });
  expect([status, body.status, body.amount]).toEqual([201, 'pending', 200]);
  expect(await grantOf(service, grantId)).toEqual({ remaining: 500, reserved: 200 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1500, held: 200, available: 1300 });
  const data = { account_id: ada.accountId, hold_id: body.id, amount: 200 };
  expect(await eventsOf(service, ada.accountId, 'tokens.held')).toEqual([{ type: 'tokens.held', data }]);
  await expectPromisesKept(service, ada.accountId);
});

test('402: more than the rest of the purchase: the detail has the available and the required amount', async () => {
  const { payment } = await bought();
  await capture(service, await holdId(service, ada.accountId, { amount: 1100 }), 1100);
  const refused = await hold(service, ada.accountId, { payment_id: payment.payment_id, amount: 401 });
  expect([refused.status, refused.problem?.kind, refused.problem?.detail]).toEqual([
    402,
    'insufficient-balance',
    'The purchase has 400 tokens available; 401 are needed.',
  ]);
  expect((await hold(service, ada.accountId, { payment_id: payment.payment_id, amount: 400 })).status).toBe(201);
  const { problem } = await hold(service, ada.accountId, { payment_id: payment.payment_id, amount: 1 });
  expect(problem?.detail).toBe('The purchase has 0 tokens available; 1 are needed.');
});

test('402: more than is available in the account because of other holds', async () => {
  const { payment } = await bought();
  await hold(service, ada.accountId, { amount: 1200 });
  const { status, problem } = await hold(service, ada.accountId, { payment_id: payment.payment_id, amount: 301 });
  expect([status, problem?.detail]).toEqual([402, 'The account has 300 tokens available; 301 are needed.']);
  expect((await hold(service, ada.accountId, { payment_id: payment.payment_id, amount: 300 })).status).toBe(201);
  await expectPromisesKept(service, ada.accountId);
});

test('422: a payment that bought no tokens, and one of another account', async () => {
  const other = await buy(service, (await join(service)).accountId);
  for (const payment_id of [newId('payment'), other.payment.payment_id]) {
    const { status, problem } = await hold(service, ada.accountId, { payment_id });
    expect([status, problem?.detail]).toEqual([
      422,
      `body.payment_id: payment ${payment_id} bought no tokens of this account.`,
    ]);
  }
});

test('201: a repeated key returns the same hold, also when nothing else is left', async () => {
  const { payment } = await bought();
  const fields = { idempotency_key: 'refund', payment_id: payment.payment_id, amount: 500 };
  const { body } = await hold(service, ada.accountId, fields);
  expect(await hold(service, ada.accountId, fields)).toMatchObject({ status: 201, body });
  const answers = await atOnce(() => hold(service, ada.accountId, fields));
  expect(new Set(answers.map((answer) => answer.body.id))).toEqual(new Set([body.id]));
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ held: 500 });
});

test('409: a repeated key with another amount, with another payment, without one, or newly with one', async () => {
  const [{ payment }, other] = [await bought(), await bought()];
  const same = { idempotency_key: 'refund', payment_id: payment.payment_id };
  await hold(service, ada.accountId, { ...same, amount: 100 });
  const another = await hold(service, ada.accountId, { ...same, amount: 101 });
  expect([another.status, another.problem?.detail]).toEqual([
    409,
    'body.idempotency_key: was used for a hold of 100 tokens.',
  ]);
  for (const payment_id of [other.payment.payment_id, newId('payment'), null]) {
    const { status, problem } = await hold(service, ada.accountId, { ...same, payment_id, amount: 100 });
    expect([status, problem?.detail]).toEqual([409, 'body.idempotency_key: was used for a hold of other tokens.']);
  }
  await hold(service, ada.accountId, { idempotency_key: 'plain', amount: 100 });
  expect((await hold(service, ada.accountId, { ...same, idempotency_key: 'plain', amount: 100 })).status).toBe(409);
});

test('409: a closed account', async () => {
  const { payment } = await bought();
  await ada.client.call(closeAccount, { params: { id: ada.accountId } });
  const { problem } = await hold(service, ada.accountId, { payment_id: payment.payment_id });
  expect(problem).toMatchObject({ status: 409, detail: `body.account_id: account ${ada.accountId} is closed.` });
});

test('200: a capture takes the tokens of the purchase, even if others come first; a partial capture releases the rest', async () => {
  const { payment, grantId } = await bought();
  const id = await holdPurchase(service, payment, 300);
  expect((await capture(service, id, 120)).body).toMatchObject({ status: 'captured', captured_amount: 120 });
  expect(await grantOf(service, grantId)).toEqual({ remaining: 380, reserved: 0 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1380, held: 0, available: 1380 });
  expect((await entriesOf(service, ada.accountId))[0]).toMatchObject({ kind: 'capture', amount: -120 });
  await expectPromisesKept(service, ada.accountId);
});

test('200: the tokens released by a void are available for everything', async () => {
  const { payment, grantId } = await bought();
  const id = await holdPurchase(service, payment);
  expect((await hold(service, ada.accountId, { amount: 1001 })).status).toBe(402);
  await release(service, id);
  expect(await grantOf(service, grantId)).toEqual({ remaining: 500, reserved: 0 });
  expect((await hold(service, ada.accountId, { amount: 1500 })).status).toBe(201);
});

test('200: a balance shows what remains of each grant, reserved or not', async () => {
  const { payment, grantId } = await bought();
  await holdPurchase(service, payment);
  const { body } = await ada.client.call(getBalance, { params: { id: ada.accountId } });
  expect(body).toMatchObject({ posted: 1500, held: 500, available: 1000 });
  expect(body.grants.map(({ remaining }) => remaining)).toEqual([1000, 500]);
  expect(body.grants[1]?.id).toBe(grantId);
});

test('other captures skip the reserved tokens, even if those come first', async () => {
  const { payment, grantId } = await boughtForAnHour();
  const id = await holdPurchase(service, payment, 400);
  await capture(service, await holdId(service, ada.accountId, { amount: 150 }), 150);
  expect(await grantOf(service, grantId)).toEqual({ remaining: 400, reserved: 400 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1350, held: 400, available: 950 });
  expect((await capture(service, id, 400)).status).toBe(200);
  expect(await leftOf(service, grantId)).toBe(0);
  await expectPromisesKept(service, ada.accountId);
});

test('100 ordinary holds and captures race with a hold on a purchase: its tokens can still be captured', async () => {
  const { payment, grantId } = await bought(300);
  const spend = async () => {
    const idempotency_key = newUuid();
    const made = await untilServed(() => hold(service, ada.accountId, { amount: 20, idempotency_key }));
    return made.status === 201 ? untilServed(() => capture(service, made.body.id, 20)) : made;
  };
  const [reserved, ...spent] = await Promise.all([
    hold(service, ada.accountId, { payment_id: payment.payment_id, amount: 300 }),
    ...Array.from({ length: 100 }, spend),
  ]);
  expect(reserved.status).toBe(201);
  expect(statusesOf(spent)).toEqual({ 200: 50, 402: 50 });
  expect(await grantOf(service, grantId)).toEqual({ remaining: 300, reserved: 300 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 300, held: 300, available: 0 });
  expect((await capture(service, reserved.body.id, 300)).status).toBe(200);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 0, held: 0, available: 0 });
  await expectPromisesKept(service, ada.accountId);
});

test('20 holds on one purchase at once reserve no more than it has', async () => {
  const { payment, grantId } = await bought();
  const answers = await atOnce(() => hold(service, ada.accountId, { payment_id: payment.payment_id, amount: 60 }));
  expect(statusesOf(answers)).toEqual({ 201: 8, 402: 12 });
  expect(await grantOf(service, grantId)).toEqual({ remaining: 500, reserved: 480 });
  await expectPromisesKept(service, ada.accountId);
});

test('expired tokens are not taken while they are reserved, but once the hold is voided', async () => {
  const { payment, grantId } = await boughtForAnHour();
  const id = await holdPurchase(service, payment, 400);
  service.clock.advance({ minutes: 61 });
  await expired(service);
  expect(await grantOf(service, grantId)).toEqual({ remaining: 400, reserved: 400 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1400, held: 400, available: 1000 });
  await release(service, await holdId(service, ada.accountId, { amount: 1000 }));
  await release(service, id);
  await expired(service);
  expect(await grantOf(service, grantId)).toEqual({ remaining: 0, reserved: 0 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
  await expectPromisesKept(service, ada.accountId);
});

test('expired tokens reserved by an ordinary hold are distinguished from those reserved by a hold on the purchase', async () => {
  const { payment, grantId } = await boughtForAnHour();
  await holdPurchase(service, payment, 200);
  await hold(service, ada.accountId, { amount: 50, expires_in: '30d' });
  service.clock.advance({ minutes: 61 });
  await expired(service);
  expect(await grantOf(service, grantId)).toEqual({ remaining: 250, reserved: 200 });
  await expectPromisesKept(service, ada.accountId);
});

test('a hold on a purchase expires like any other, and releases its tokens', async () => {
  const { payment, grantId } = await bought();
  await hold(service, ada.accountId, { payment_id: payment.payment_id, expires_in: '1h' });
  service.clock.advance({ minutes: 61 });
  await expired(service);
  expect(await grantOf(service, grantId)).toEqual({ remaining: 500, reserved: 0 });
  await expectPromisesKept(service, ada.accountId);
});

test('deleting an account deletes its purchases and their holds', async () => {
  const { payment } = await bought();
  await holdPurchase(service, payment);
  await service.db.query('DELETE FROM accounts WHERE id = $1', [ada.accountId]);
  for (const table of ['token_grants', 'token_holds', 'ledger_entries', 'balances', 'settlements'])
    expect(await count(service, table, 'account_id = $1', ada.accountId)).toBe(0);
});

test('a purchase without an event does not exist, whatever else the account has', async () => {
  const { payment_id } = paymentOf(ada.accountId);
  expect((await hold(service, ada.accountId, { payment_id, amount: 1 })).status).toBe(422);
  expect(await rows(service, 'SELECT 1 FROM token_holds WHERE account_id = $1', ada.accountId)).toEqual([]);
});
