import { disputeLost, disputeOpened, disputeWon } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { count, join, type Person, rows, startAccountService } from './support.ts';
import { capture, entriesOf, expectPromisesKept, figuresOf, hold, holdId } from './support-ledger.ts';
import { messagesTo } from './support-mails.ts';
import { addMember } from './support-members.ts';
import { buy, holdPurchase, refundOf, refundPaid, refundRefused } from './support-purchases.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
});
beforeEach(async () => {
  ada = await join(service); // With 1000 tokens of the free plan, which burn first.
});
afterAll(() => service.stop());

type Payment = Awaited<ReturnType<typeof buy>>['payment'];
const bought = async () => (await buy(service, ada.accountId)).payment;
/** Spends tokens; the free ones come first. */
const spend = async (amount: number) => capture(service, await holdId(service, ada.accountId, { amount }), amount);
const disputeOf = (payment: Payment, over: object = {}) => {
  const { account_id, payment_id, description, amount_cents, currency, token_amount } = payment;
  return {
    ...{ account_id, payment_id, description, amount_cents, currency, token_amount, dispute_id: `du_${payment_id}` },
    ...over,
  };
};
type Dispute = ReturnType<typeof disputeOf>;
const opened = (dispute: Dispute) =>
  service.deliver(disputeOpened, { ...dispute, reason: 'fraudulent' }, dispute.account_id);
const won = (dispute: Dispute) => service.deliver(disputeWon, dispute, dispute.account_id);
const lost = (dispute: Dispute) => service.deliver(disputeLost, dispute, dispute.account_id);
const entries = async () => (await entriesOf(service, ada.accountId)).map(({ kind, amount }) => [kind, amount]);
const debts = () =>
  rows<{ amount: number; paid: number }>(
    service,
    'SELECT amount::int, paid::int FROM token_debts WHERE account_id = $1 AND amount > 0 ORDER BY created_at, dispute_id',
    ada.accountId,
  );
/** The tokens that a refund or a dispute of this account took, less those that it gave back. */
const takenBy = async (what: 'refund' | 'dispute') => {
  const found = await rows<{ taken: number }>(
    service,
    `SELECT coalesce(-sum(amount), 0)::int AS taken FROM ledger_entries WHERE account_id = $1 AND starts_with(idempotency_key, $2)`,
    ada.accountId,
    `${what}:`,
  );
  return found[0]?.taken;
};
const figures = () => figuresOf(service, ada.accountId);
const linesOf = (text = '') => text.split(/\r?\n/).filter((line) => line.trim() !== '');

test('an open dispute holds what is unspent of its purchase; when it is won, the hold goes', async () => {
  const dispute = disputeOf(await bought());
  await spend(1_200);
  const first = await opened(dispute);
  expect(await figures()).toEqual({ posted: 300, held: 300, available: 0 });
  await service.redeliver(first, disputeOpened.topic.name);
  await opened(dispute);
  expect(await figures()).toEqual({ posted: 300, held: 300, available: 0 });
  for (const _ of [1, 2]) await won(dispute);
  expect(await figures()).toEqual({ posted: 300, held: 0, available: 300 });
  await opened(dispute);
  await lost(dispute);
  expect(await figures()).toEqual({ posted: 300, held: 0, available: 300 });
  await expectPromisesKept(service, ada.accountId);
});

test('when it is lost the unspent tokens are taken, and the next purchases pay for the others first', async () => {
  const dispute = disputeOf(await bought());
  await spend(1_200);
  await opened(dispute);
  for (const _ of [1, 2]) await lost(dispute);
  expect((await entries())[0]).toEqual(['refund', -300]);
  expect(await debts()).toEqual([{ amount: 200, paid: 0 }]);
  expect(await figures()).toEqual({ posted: 0, held: 0, available: 0 });

  await buy(service, ada.accountId, { token_amount: 150 });
  expect((await entries()).slice(0, 2)).toEqual([
    ['debt', -150],
    ['purchase', 150],
  ]);
  await buy(service, ada.accountId, { token_amount: 150 });
  await buy(service, ada.accountId, { token_amount: 150 });
  expect((await entries()).slice(0, 3)).toEqual([
    ['purchase', 150],
    ['debt', -50],
    ['purchase', 150],
  ]);
  expect((await entriesOf(service, ada.accountId))[1]).toMatchObject({ description: 'Debt of a lost dispute' });
  expect(await debts()).toEqual([{ amount: 200, paid: 200 }]);
  expect(await figures()).toEqual({ posted: 250, held: 0, available: 250 });
  await expectPromisesKept(service, ada.accountId);
});

test('one that is heard of only when it is lost takes the same, and what came before it is ignored afterwards', async () => {
  const dispute = disputeOf(await bought());
  await spend(1_200);
  await lost(dispute);
  await opened(dispute);
  await won(dispute);
  expect((await entries())[0]).toEqual(['refund', -300]);
  expect(await debts()).toEqual([{ amount: 200, paid: 0 }]);
  expect(await figures()).toEqual({ posted: 0, held: 0, available: 0 });
});

test('what was refunded before is not owed again, whether its tokens are taken or still held', async () => {
  const payment = await bought();
  await refundPaid(service, refundOf(payment, { token_amount: 100 }));
  const refund = refundOf(payment, { token_amount: 50, hold_id: await holdPurchase(service, payment, 50) });
  await spend(1_200);
  const dispute = disputeOf(payment);
  await opened(dispute);
  await lost(dispute);
  await refundPaid(service, refund);
  expect((await entries()).slice(0, 2)).toEqual([
    ['refund', -50],
    ['refund', -150],
  ]);
  expect(await debts()).toEqual([{ amount: 200, paid: 0 }]);
  await expectPromisesKept(service, ada.accountId);
});

test('the tokens of a refund that fails after its dispute was lost are taken too', async () => {
  const payment = await bought();
  const refund = refundOf(payment, { token_amount: 50, hold_id: await holdPurchase(service, payment, 50) });
  const dispute = disputeOf(payment);
  await opened(dispute);
  await lost(dispute);
  expect((await entries())[0]).toEqual(['refund', -450]);
  for (const _ of [1, 2]) await refundRefused(service, refund);
  expect((await entries()).slice(0, 2)).toEqual([
    ['refund', -50],
    ['refund', -450],
  ]);
  expect(await figures()).toEqual({ posted: 1_000, held: 0, available: 1_000 });
  await expectPromisesKept(service, ada.accountId);
});

test('a refund that was heard of after its dispute was lost, and failed, changes nothing that is not disputed', async () => {
  const payment = await bought();
  const refund = refundOf(payment, { token_amount: 100, hold_id: await holdPurchase(service, payment, 100) });
  await lost(disputeOf(payment, { token_amount: 300 }));
  expect(await figures()).toEqual({ posted: 1_200, held: 100, available: 1_100 });
  await refundRefused(service, refund);
  expect(await figures()).toEqual({ posted: 1_200, held: 0, available: 1_200 });
  expect(await debts()).toEqual([]);
});

const decisions = { won: { posted: 100, owed: [] }, lost: { posted: 0, owed: [{ amount: 250, paid: 0 }] } };
test.each(['won', 'lost'] as const)(
  'every order of a refund from the provider and a dispute that is %s, of a purchase spent in part, ends in the same rows',
  async (decision) => {
    const outcomes: object[] = [];
    const orders = [
      ['refund', 'opened', decision],
      ['opened', 'refund', decision],
      ['opened', decision, 'refund'],
      [decision, 'refund'],
    ];
    for (const order of [...orders, [decision, 'refund', 'opened']]) {
      ada = await join(service);
      const payment = await bought();
      await spend(1_250);
      const dispute = disputeOf(payment, { token_amount: 350 });
      const refund = refundOf(payment, { token_amount: 150 });
      const steps = {
        refund: () => refundPaid(service, refund),
        opened: () => opened(dispute),
        won: () => won(dispute),
        lost: () => lost(dispute),
      };
      for (const step of order) for (const _ of [1, 2]) await steps[step as keyof typeof steps]();
      await expectPromisesKept(service, ada.accountId);
      outcomes.push({
        figures: await figures(),
        debts: await debts(),
        refunded: await takenBy('refund'),
        disputed: await takenBy('dispute'),
      });
    }
    const { posted, owed } = decisions[decision];
    const taken = { refunded: 150, disputed: 100 - posted };
    const expected = { figures: { posted, held: 0, available: posted }, debts: owed, ...taken };
    expect(outcomes).toEqual(outcomes.map(() => expected));
  },
);

test('a refund that came back after its dispute was lost ends like one that came back before', async () => {
  const outcomes: object[] = [];
  for (const order of [
    ['refund', 'reversed', 'lost'],
    ['refund', 'lost', 'reversed'],
    ['lost', 'refund', 'reversed'],
  ]) {
    ada = await join(service);
    const payment = await bought();
    await spend(1_250);
    const dispute = disputeOf(payment, { token_amount: 350 });
    const refund = refundOf(payment, { token_amount: 150 });
    const steps = {
      refund: () => refundPaid(service, refund),
      reversed: () => refundRefused(service, refund, true),
      lost: () => lost(dispute),
    };
    for (const step of order) for (const _ of [1, 2]) await steps[step as keyof typeof steps]();
    await expectPromisesKept(service, ada.accountId);
    outcomes.push({ figures: await figures(), debts: await debts(), disputed: await takenBy('dispute') });
  }
  const none = { posted: 0, held: 0, available: 0 };
  expect(outcomes).toEqual(outcomes.map(() => ({ figures: none, debts: [{ amount: 100, paid: 0 }], disputed: 250 })));
});

test('several debts are paid oldest first, by one entry a purchase', async () => {
  const payments = [await bought(), await bought()];
  await spend(2_000);
  for (const payment of payments) await lost(disputeOf(payment));
  await buy(service, ada.accountId, { token_amount: 700 });
  expect((await entries())[0]).toEqual(['debt', -700]);
  expect(await debts()).toEqual([
    { amount: 500, paid: 500 },
    { amount: 500, paid: 200 },
  ]);
});

test('ten purchases at once pay a debt once', async () => {
  const payment = await bought();
  await spend(1_500);
  await lost(disputeOf(payment));
  await Promise.all(Array.from({ length: 10 }, () => buy(service, ada.accountId, { token_amount: 100 })));
  expect(await debts()).toEqual([{ amount: 500, paid: 500 }]);
  const paid = (await entries())
    .filter(([kind]) => kind === 'debt')
    .reduce((sum, [, amount]) => sum + Number(amount), 0);
  expect([paid, await figures()]).toEqual([-500, { posted: 500, held: 0, available: 500 }]);
  await expectPromisesKept(service, ada.accountId);
});

test('tokens that came back after a refund belong to their purchase: a second refund and a dispute find them', async () => {
  const payment = await bought();
  const first = refundOf(payment, { token_amount: 300, hold_id: await holdPurchase(service, payment, 300) });
  await refundPaid(service, first);
  await refundRefused(service, first, true);
  const key = { payment_id: payment.payment_id, amount: 500, idempotency_key: 'second' };
  const made = await hold(service, ada.accountId, key);
  expect([made.status, made.body.amount]).toEqual([201, 500]);
  expect((await hold(service, ada.accountId, key)).body).toEqual(made.body);
  expect((await hold(service, ada.accountId, { ...key, amount: 200 })).status).toBe(409);
  expect(await figures()).toEqual({ posted: 1_500, held: 500, available: 1_000 });
  const second = refundOf(payment, { hold_id: made.body.id });
  await refundRefused(service, refundOf(payment, { hold_id: made.body.id }));
  expect(await figures()).toEqual({ posted: 1_500, held: 0, available: 1_500 });

  const again = await hold(service, ada.accountId, { ...key, idempotency_key: 'third' });
  await refundPaid(service, { ...second, refund_id: newId('refund'), hold_id: again.body.id });
  expect((await entries()).slice(0, 2)).toEqual([
    ['refund', -300],
    ['refund', -200],
  ]);
  expect(await figures()).toEqual({ posted: 1_000, held: 0, available: 1_000 });
  expect((await hold(service, ada.accountId, { ...key, idempotency_key: 'fourth', amount: 1 })).status).toBe(402);
  await expectPromisesKept(service, ada.accountId);
});

test('the owner and the admins are told by mail, whatever they have access to, and members are not', async () => {
  const admin = await addMember(service, ada, { role: 'admin', services: { campaign: 'w' } });
  const member = await addMember(service, ada, { billing: true });
  const dispute = disputeOf(await bought());
  await spend(1_200);
  await opened(dispute);
  await lost(dispute);
  const subjects = async ({ email }: Person) =>
    (await messagesTo(service, email)).filter(({ subject }) => /dispute|taken back/.test(subject ?? ''));
  for (const person of [ada, admin]) {
    const [first, second] = await subjects(person);
    expect(first?.subject).toBe('Your bank disputes a payment of $79.00');
    expect(linesOf(first?.text)).toEqual(expect.arrayContaining(['Tokens held: 300', 'Reason: fraudulent']));
    expect(second?.subject).toBe('A payment of $79.00 was taken back');
    expect(second?.text).toContain('200 of its tokens were spent already.');
  }
  await buy(service, ada.accountId, { amount_cents: 100 });
  const receipt = (await messagesTo(service, ada.email)).find(({ subject }) => subject === 'Your receipt: $1.00');
  expect(receipt?.text).toContain('200 of these tokens pay for tokens of an earlier payment');
  expect(await subjects(member)).toEqual([]);
});

test('a dispute of a deleted account, or of a payment without tokens, has no effect, and makes no dead letter', async () => {
  const { payment } = await buy(service, ada.accountId, { token_amount: 0 });
  const unknown = { ...disputeOf(payment), account_id: newId('account') };
  for (const dispute of [disputeOf(payment), unknown]) {
    await opened(dispute);
    await lost(dispute);
  }
  expect(await debts()).toEqual([]);
  expect(await figures()).toEqual({ posted: 1_000, held: 0, available: 1_000 });
  expect(await count(service, 'dead_letters')).toBe(0);
});
