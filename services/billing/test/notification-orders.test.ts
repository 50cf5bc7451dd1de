import { changePlan } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { createOutbox } from '@attribution/messaging';
import { captureLogs, createTestClock, createTestDatabase, type TestDatabase } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import pLimit from 'p-limit';
import type { ProviderEvent } from '../src/provider/index.ts';
import { createRefresh, createWriteFor } from '../src/refresh/index.ts';
import { type BillingDatabase, openBillingDatabase, type Refresh } from '../src/store.ts';
import { eventsOf } from './provider-support.ts';
import { startMoney } from './support-money.ts';
import { permutations, type Recorded, record, replay } from './support-recorded.ts';

/** The notifications for a customer who subscribes and then upgrades, and the provider's state at both moments. */
let events: readonly ProviderEvent[];
let subscribed: Recorded;
let upgraded: Recorded;
let customerId: string;
let template: TestDatabase;
let database: BillingDatabase;
let refresh: Refresh;
const states = new Map<string, Recorded>();
const accounts = new Map<string, { account_id: string; reference: string }>();

beforeAll(async () => {
  const money = await startMoney({ webhooks: false });
  try {
    const tenant = await money.newTenant();
    const since = money.clock.now();
    await money.pay(await money.checkout(tenant, 'starter'));
    const first = await eventsOf(money, since);
    const { rows } = await money.db.query<{ id: string }>('SELECT provider_customer_id AS id FROM customers');
    customerId = rows[0]?.id ?? '';
    subscribed = await record(money.provider, first, customerId);
    const [subscription] = first.filter(({ object }) => object.kind === 'subscription');
    const price = {
      plan_key: 'growth',
      name: 'Growth',
      amount_cents: 19_900,
      currency: 'usd',
      interval: 'month',
    } as const;
    const subscriptionId = subscription?.object.id ?? '';
    await money.provider.changePlan(
      { subscriptionId, fromPlanKey: 'starter', price, type: 'upgrade' },
      changePlan.operation,
    );
    events = await eventsOf(money, since);
    upgraded = await record(money.provider, events, customerId);
  } finally {
    await money.stop();
  }
  template = await createTestDatabase('billing');
  database = openBillingDatabase({ url: template.url, poolSize: 8 });
  const writeFor = createWriteFor({ database, outbox: createOutbox(() => {}), clock: createTestClock() });
  const provider = replay(
    (mark) => states.get(mark) ?? upgraded,
    (mark) => accounts.get(mark) ?? {},
  );
  const { logger } = captureLogs('billing');
  refresh = createRefresh({ database, provider, writeFor, logger, refundsFraudWarnings: false });
});
afterAll(async () => {
  await database.close();
  await template.drop();
});

/** Another customer with the same objects, whose ids have a mark of their own. */
async function newAccount(mark: string): Promise<void> {
  const [account_id, reference] = [newId('account'), newId('checkout_session')];
  accounts.set(mark, { account_id, reference });
  await database.sql.$executeRaw`
    INSERT INTO customers (account_id, name, currency, created_at, provider_customer_id)
    VALUES (${account_id}, '', 'usd', now(), ${`${customerId}~${mark}`})`;
  await database.sql.$executeRaw`
    INSERT INTO checkouts (id, account_id, mode, plan_key, created_by, created_at)
    VALUES (${reference}, ${account_id}, 'subscription', 'starter', 'usr_1', now())`;
}

/** Draws so many orders of these, and tries them all at once. */
async function withOrders<T>(of: readonly T[], count: number, attempt: (orders: T[][]) => Promise<void>) {
  const order = fc.shuffledSubarray([...of], { minLength: of.length });
  const orders = fc.array(order, { minLength: count, maxLength: count });
  await fc.assert(fc.asyncProperty(orders, attempt), { numRuns: 1, endOnFailure: true });
}

const deliver = async (mark: string, notified: readonly ProviderEvent[]) => {
  for (const { object } of notified) await refresh(object.kind, `${object.id}~${mark}`);
};

/** The stored rows of each account, without what differs between accounts: ids, and the order of the ledger entries. */
async function booksOf(marks: readonly string[]): Promise<unknown[]> {
  const ids = marks.map((mark) => accounts.get(mark)?.account_id ?? '');
  const rows = await database.sql.$queryRaw<{ account_id: string; book: object }[]>`
    SELECT c.account_id, json_build_object(
      'payments', (SELECT json_agg(p ORDER BY p.amount_cents) FROM (
        SELECT kind, plan_key, amount_cents, refunded_cents, token_amount, status, split_part(provider_payment_id, '~', 1) AS payment,
          split_part(provider_invoice_id, '~', 1) AS invoice
        FROM payments WHERE account_id = c.account_id) AS p),
      'entries', (SELECT json_agg(e ORDER BY e.amount_cents) FROM (
        SELECT kind, amount_cents, description FROM money_entries WHERE account_id = c.account_id) AS e),
      'sums', json_build_array(c.ledger_cents, c.last_seq, c.credit_balance_cents),
      'subscriptions', (SELECT json_agg(s) FROM (
        SELECT plan_key, status, cancel_at_period_end, current_period_end, created_at FROM subscriptions
        WHERE account_id = c.account_id) AS s),
      'checkouts', (SELECT json_agg(k.status) FROM checkouts AS k WHERE account_id = c.account_id),
      'events', o.types
    )::jsonb AS book
    FROM customers AS c LEFT JOIN (
      SELECT account_id, json_agg(type ORDER BY type) AS types FROM outbox WHERE type <> 'subscription.updated' GROUP BY account_id
    ) AS o USING (account_id) WHERE c.account_id = ANY(${ids})`;
  const books = new Map(rows.map(({ account_id, book }) => [account_id, book]));
  return ids.map((id) => books.get(id));
}

const all = {
  payments: [
    { amount_cents: 4_900, token_amount: 10_000, status: 'succeeded' },
    { amount_cents: 15_000, token_amount: 40_000, status: 'succeeded' },
  ],
  entries: [{ amount_cents: 4_900 }, { amount_cents: 15_000 }],
  sums: [19_900, 2, 0],
  subscriptions: [{ plan_key: 'growth', status: 'active' }],
  checkouts: ['complete'],
  events: ['invoice.paid', 'invoice.paid'],
};

/** Does it for many accounts, several at once; answers their books. */
async function inEach<T>(name: string, of: readonly T[], work: (mark: string, one: T) => Promise<void>) {
  const lanes = pLimit(8);
  const marks = of.map((_, at) => `${name}${at}`);
  const each = (one: T, at: number) => async () => {
    await newAccount(marks[at] ?? '');
    await work(marks[at] ?? '', one);
  };
  await Promise.all(of.map((one, at) => lanes(each(one, at))));
  return booksOf(marks);
}

test('a new subscription with an upgrade makes seven notifications', () => {
  expect(events.map(({ type }) => type).toSorted()).toEqual([
    'checkout.session.completed',
    'customer.subscription.created',
    'customer.subscription.updated',
    'invoice.paid',
    'invoice.paid',
    'payment_intent.succeeded',
    'payment_intent.succeeded',
  ]);
});

/** The sets of notifications, as bits. */
const sets = Array.from({ length: 2 ** 7 }, (_, bits) => bits);
const membersOf = (bits: number) => events.filter((_, at) => bits & (1 << at));

// These steps cover all 5,040 orders and their repetitions: each order is a path over them from none applied to all.
test('whichever of the seven were applied, the next one leads to the same rows in every order; a repetition changes nothing', async () => {
  const reached = await inEach('set', sets, (mark, bits) => deliver(mark, membersOf(bits)));
  const steps = sets.flatMap((bits) => events.map((event, at) => ({ bits, event, next: bits | (1 << at) })));
  const books = await inEach('step', steps, async (mark, { bits, event }) => {
    // By another way than the set above was reached by.
    await deliver(mark, [...membersOf(bits).toReversed(), event]);
  });
  const wrong = steps.filter(({ next }, at) => JSON.stringify(books[at]) !== JSON.stringify(reached[next]));
  expect(wrong.map(({ bits, event }) => `${event.type} after ${bits}`)).toEqual([]);
  expect(reached.at(-1)).toMatchObject(all);
});

test('complete random orders, with each notification twice, end in the same rows', async () => {
  await withOrders([...events, ...events], 40, async (orders) => {
    const books = await inEach('order', orders, deliver);
    expect(new Set(books.map((book) => JSON.stringify(book))).size).toBe(1);
    expect(books[0]).toMatchObject(all);
  });
});

test('so do orders in which some were applied before the upgrade, and all are repeated after it', async () => {
  const early = events.filter(({ object }) => subscribed.has(`${object.kind} ${object.id}`));
  const orders = [...permutations(early)];
  await withOrders(events, orders.length, async (after) => {
    const books = await inEach('early', orders, async (mark, order) => {
      const at = orders.indexOf(order);
      states.set(mark, subscribed);
      await deliver(mark, order.slice(0, 1 + (at % order.length)));
      states.set(mark, upgraded);
      await deliver(mark, after[at] ?? []);
    });
    expect(new Set(books.map((book) => JSON.stringify(book))).size).toBe(1);
    expect(books[0]).toMatchObject(all);
  });
});
