import { afterEach, beforeEach, expect, test } from '@jest/globals';
import Stripe from 'stripe';
import { list, type StripeDouble, send, startStripeDouble } from './stripe-double.ts';

const NEW = 'whsec_new';
const OLD = 'whsec_old';
const now = new Date('2026-11-21T12:00:00Z');
const seconds = now.getTime() / 1000;
const event = (id: string, object: unknown, type = 'x.updated') => ({
  id,
  object: 'event',
  // Not our API version: the notification is a hint all the same.
  api_version: '2019-12-03',
  type,
  created: seconds,
  data: { object },
});

/** 250 events, the newest first, in pages as Stripe gives them. */
const stored = Array.from({ length: 250 }, (_, n) =>
  event(`evt_${250 - n}`, { object: 'refund', id: `re_${250 - n}` }),
);
let double: StripeDouble;
let failing = false;
beforeEach(async () => {
  failing = false;
  double = await startStripeDouble(({ params }, response) => {
    const start = stored.findIndex(({ id }) => id === params.starting_after) + 1;
    const page = stored.slice(start, start + Number(params.limit));
    if (failing)
      send(response, 500, { error: { type: 'api_error', message: 'No.' } }, { 'stripe-should-retry': 'false' });
    else send(response, 200, list(page, start + page.length < stored.length));
  });
});
afterEach(() => double.stop());

const signed = (body: string, secret: string, timestamp = seconds) =>
  Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
const read = (body: string, signature: string | undefined, webhookSecrets = [NEW, OLD]) =>
  double.provider({ webhookSecrets, now: () => now }).readWebhook(Buffer.from(body), signature);

test.each<[Record<string, unknown>, string, string]>([
  [{ object: 'customer', id: 'cus_1' }, 'customer', 'cus_1'],
  [{ object: 'checkout.session', id: 'cs_1' }, 'checkout', 'cs_1'],
  [{ object: 'payment_intent', id: 'pi_1' }, 'payment', 'pi_1'],
  [{ object: 'charge', id: 'ch_1', payment_intent: 'pi_1' }, 'payment', 'pi_1'],
  [{ object: 'charge', id: 'ch_1', payment_intent: null }, 'other', 'ch_1'],
  [{ object: 'invoice', id: 'in_1' }, 'invoice', 'in_1'],
  [{ object: 'invoice' }, 'other', ''],
  [{ object: 'invoice_payment', id: 'inpay_1', invoice: 'in_1' }, 'invoice', 'in_1'],
  [{ object: 'subscription', id: 'sub_1' }, 'subscription', 'sub_1'],
  [{ object: 'refund', id: 're_1' }, 'refund', 're_1'],
  [{ object: 'setup_intent', id: 'seti_1' }, 'setup', 'seti_1'],
  [{ object: 'balance' }, 'other', ''],
  [{ object: 'constructor', id: 'x_1' }, 'other', 'x_1'],
])('a notification of %j is a hint at %s %s', (object, kind, id) => {
  const body = JSON.stringify(event('evt_1', object, 'some.type'));
  expect(read(body, signed(body, NEW))).toEqual({
    id: 'evt_1',
    type: 'some.type',
    object: { kind, id },
    created_at: now,
  });
});

const body = JSON.stringify(event('evt_1', { object: 'refund', id: 're_1' }));

test('a notification signed with any of the secrets is accepted', () => {
  expect(read(body, signed(body, NEW))?.id).toBe('evt_1');
  expect(read(body, signed(body, OLD))?.id).toBe('evt_1');
});

test.each<[string, () => string | undefined]>([
  ['no signature', () => undefined],
  ['an empty one', () => ''],
  ['nonsense', () => 'nonsense'],
  ['another secret', () => signed(body, 'whsec_other')],
  ['another body', () => signed(`${body} `, NEW)],
  ['a signature of six minutes ago', () => signed(body, NEW, seconds - 360)],
])('with %s a notification is not taken', (_, signature) => {
  expect(read(body, signature())).toBeUndefined();
});

test('a signature that is four minutes old is accepted', () => {
  expect(read(body, signed(body, NEW, seconds - 240))?.id).toBe('evt_1');
});

test('without secrets nothing is accepted', () => {
  expect(read(body, signed(body, NEW), [])).toBeUndefined();
  expect(read(body, signed(body, 'x'), [''])).toBeUndefined();
});

test.each(['', 'no JSON', 'null', '{}', '{"object":"v2.core.event"}'])(
  '%p, correctly signed, is not accepted',
  (text) => {
    expect(read(text, signed(text, NEW))).toBeUndefined();
  },
);

test('events of the types that are acted on are read over all pages', async () => {
  const since = new Date('2026-11-20T00:00:00.900Z');
  const events = await Array.fromAsync(double.provider().listEvents(since));
  expect(new Set(events.map(({ id }) => id))).toEqual(new Set(stored.map(({ id }) => id)));
  const types = double.asked.map(({ params }) => params['types[0]']);
  expect(new Set(types)).toEqual(new Set(['checkout.session.completed', 'customer.updated']));
  for (const { params } of double.asked) {
    expect(params['created[gte]']).toBe(String(new Date('2026-11-20T00:00:00Z').getTime() / 1000));
    expect(params['types[20]']).toBeUndefined(); // Stripe takes at most twenty.
  }
});

test('a reading that failed goes on at the page where it failed', async () => {
  const cursors: string[] = [];
  const passed = async (cursor: string) => void cursors.push(cursor);
  const provider = double.provider();
  const whole = await Array.fromAsync(provider.listEvents(now, { from: null, passed }));
  const [first] = cursors;
  expect(cursors.length).toBeGreaterThan(1);
  const rest = await Array.fromAsync(provider.listEvents(now, { from: first ?? '', passed }));
  expect(rest.map(({ id }) => id)).toEqual(whole.slice(whole.length - rest.length).map(({ id }) => id));
  expect(rest.length).toBeLessThan(whole.length);
});

test('if events cannot be read, the result is unavailable, and none is returned', async () => {
  failing = true;
  await expect(Array.fromAsync(double.provider().listEvents(now))).rejects.toMatchObject({ kind: 'unavailable' });
});
