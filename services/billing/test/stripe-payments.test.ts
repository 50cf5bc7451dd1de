import { afterEach, expect, test } from '@jest/globals';
import { type Asked, fault, list, type StripeDouble, send, startStripeDouble } from './stripe-double.ts';

let double: StripeDouble;
afterEach(() => double.stop());

const customer = { id: 'cus_1', object: 'customer', metadata: { account_id: 'acc_1' } };
const intent = (id: string, metadata: object = {}) => ({
  id,
  customer,
  status: 'succeeded',
  amount: 900,
  amount_received: 900,
  currency: 'usd',
  latest_charge: { id: 'ch_1', amount_refunded: 100, receipt_url: 'https://receipt' },
  last_payment_error: null,
  metadata,
  created: 1_700_000_000,
});
const pack = (id: string) => intent(id, { account_id: 'acc_1', plan_key: 'tokens_1000' });
const line = (price: unknown) => ({
  amount: 900,
  parent: null,
  pricing: { price_details: { price, product: 'prod_1' } },
});
const invoice = (id: string, payments: string[], lines: object = list([line('price_growth')])) => ({
  id,
  customer,
  status: 'paid',
  billing_reason: 'subscription_cycle',
  amount_paid: 900,
  currency: 'usd',
  metadata: {},
  parent: null,
  payments: list(payments.map((payment_intent) => ({ status: 'paid', payment: { payment_intent } }))),
  lines,
  created: 1_700_000_000,
});
const growth = { id: 'price_growth', lookup_key: 'growth', metadata: {} };

/** Lists are returned in pages of two. */
async function answering(answers: Readonly<Record<string, readonly { id: string }[] | object>>) {
  const page = (all: readonly { id: string }[], { params }: Asked) => {
    const start = all.findIndex(({ id }) => id === params.starting_after) + 1;
    return list(all.slice(start, start + 2), start + 2 < all.length);
  };
  double = await startStripeDouble((asked, response) => {
    const answer = answers[asked.path.replace(/\?.*/, '').replace('/v1/', '')];
    if (answer === undefined) send(response, 404, fault({ type: 'invalid_request_error', code: 'resource_missing' }));
    else send(response, 200, Array.isArray(answer) ? page(answer, asked) : answer);
  });
  return double.provider({ retries: 0 });
}

const asked = (path: string) => double.asked.filter((one) => one.path.replace(/\?.*/, '') === `/v1/${path}`);
const listed = async (stripe: Awaited<ReturnType<typeof answering>>) =>
  (await Array.fromAsync(stripe.listPayments('cus_1'))).map(({ id, invoice_id, plan_key }) => [
    id,
    invoice_id,
    plan_key,
  ]);

test('payments for packs are listed over all pages, without requesting invoices', async () => {
  const packs = ['pi_5', 'pi_4', 'pi_3', 'pi_2', 'pi_1'].map(pack);
  const stripe = await answering({ payment_intents: packs });
  expect(await listed(stripe)).toEqual(packs.map(({ id }) => [id, null, 'tokens_1000']));
  expect(double.asked).toHaveLength(3);
  for (const { params } of asked('payment_intents'))
    expect(params).toMatchObject({
      customer: 'cus_1',
      limit: '100',
      'expand[0]': 'data.latest_charge',
      'expand[1]': 'data.customer',
    });
});

test('a payment in the list is the same as by id', async () => {
  const stripe = await answering({
    payment_intents: [intent('pi_1')],
    'payment_intents/pi_1': intent('pi_1'),
    invoice_payments: [{ id: 'inpay_1', invoice: 'in_1' }],
    'invoices/in_1': invoice('in_1', ['pi_1']),
    'invoices/in_1/lines': list([line(growth)]),
    invoices: [invoice('in_1', ['pi_1'])],
    'prices/price_growth': growth,
  });
  const [payment] = await Array.fromAsync(stripe.listPayments('cus_1'));
  expect(payment).toEqual(await stripe.getPayment('pi_1'));
  expect(payment).toMatchObject({ invoice_id: 'in_1', plan_key: 'growth', refunded_cents: 100, account_id: 'acc_1' });
});

test('for payments of invoices, the invoices are listed once, and each price is requested once', async () => {
  const stripe = await answering({
    payment_intents: ['pi_4', 'pi_3', 'pi_2', 'pi_1'].map((id) => intent(id)),
    invoices: [
      invoice('in_3', ['pi_4', 'pi_3']),
      invoice('in_free', []),
      invoice('in_2', ['pi_2'], list([line('price_other')], true)),
      invoice('in_1', ['pi_1']),
    ],
    'invoices/in_2/lines': list([line({ ...growth, lookup_key: 'starter' })]),
    'prices/price_growth': growth,
  });
  expect(await listed(stripe)).toEqual([
    ['pi_4', 'in_3', 'growth'],
    ['pi_3', 'in_3', 'growth'],
    ['pi_2', 'in_2', 'starter'],
    ['pi_1', 'in_1', 'growth'],
  ]);
  const counts = ['payment_intents', 'invoices', 'invoices/in_2/lines', 'prices/price_growth'].map(
    (path) => asked(path).length,
  );
  expect(counts).toEqual([2, 2, 1, 1]);
  expect(double.asked).toHaveLength(6);
});

test('a payment whose invoice is not in the list is requested separately; it may have none', async () => {
  const data = (id: string) => [{ id: 'inpay_1', invoice: id }];
  const stripe = await answering({
    payment_intents: [intent('pi_1')],
    invoices: [],
    invoice_payments: data('in_new'),
    'invoices/in_new': invoice('in_new', []),
    'invoices/in_new/lines': list([line(growth)]),
  });
  expect(await listed(stripe)).toEqual([['pi_1', 'in_new', 'growth']]);
  await double.stop();
  const foreign = await answering({ payment_intents: [intent('pi_1')], invoices: [], invoice_payments: [] });
  expect(await listed(foreign)).toEqual([['pi_1', null, '']]);
});

test('a failure during the listing has its kind, and an invalid id lists nothing', async () => {
  const stripe = await answering({ payment_intents: [pack('pi_2'), intent('pi_1')] });
  const seen: string[] = [];
  const reading = async () => {
    for await (const { id } of stripe.listPayments('cus_1')) seen.push(id);
  };
  await expect(reading()).rejects.toMatchObject({ kind: 'not_found' });
  expect(seen).toEqual(['pi_2']);
  const before = double.asked.length;
  await expect(Array.fromAsync(stripe.listPayments(''))).rejects.toMatchObject({ kind: 'not_found' });
  expect(double.asked).toHaveLength(before);
});
