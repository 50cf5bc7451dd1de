import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { captureLogs, createTestClock } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CatalogueEntry } from '../src/provider/payment-provider.ts';
import { createSimulatedProvider } from '../src/provider/simulated/index.ts';
import { buy, checkoutOf, eventsOf, newCustomer, newKey, prices, refusal } from './provider-support.ts';
import { type CardName, look, numbers, openSimulated, send, typed } from './simulated-support.ts';

let folder: string;
let opened: Awaited<ReturnType<typeof openSimulated>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulated-'));
  opened = await openSimulated({ file: join(folder, 'simulated.db') });
});
afterAll(async () => {
  await opened.close();
  await rm(folder, { recursive: true });
});

async function newCheckout(price: CatalogueEntry = prices.pack, over: { returnUrl?: string } = {}) {
  const asked = { ...checkoutOf(await newCustomer(opened.provider), price), ...over };
  const { id, url } = await opened.provider.createCheckout(asked, newKey());
  const now = () => opened.provider.getCheckout(id);
  return { id, page: url ?? '', asked, now };
}

const pay = (page: string, card: CardName, over?: Record<string, string>) => send(page, typed(card, over));

test('the page shows the product and the price, with an empty form', async () => {
  const { page } = await newCheckout(prices.small);
  const { status, headers, text } = await look(page);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers.get('cache-control')).toBe('no-store');
  for (const expected of ['Small', '$49.00', 'a month', '4242 4242 4242 4242', '<label for="number">'])
    expect(text).toContain(expected);
  for (const [input] of text.matchAll(/<input[^>]*>/g)) expect(input).not.toContain('value=');
});

test('nothing is executed or loaded, and the form redirects to the app only', async () => {
  const { page } = await newCheckout();
  const { headers, text } = await look(page);
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]+='; form-action 'self' https:\/\/app\.example; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect(text).not.toMatch(/<script|<link|<img|@import|url\(|\son\w+=/i);
});

test('any product name is shown as text', async () => {
  const name = `"><script>alert('x')</script>&amp;`;
  const { page } = await newCheckout({ ...prices.pack, plan_key: 'evil', name });
  const { text } = await look(page);
  expect(text).toContain('&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;');
  expect(text).not.toContain('<script');
});

test('paying returns to the URL with our reference added to its query', async () => {
  const { page, asked, now } = await newCheckout();
  const { status, location } = await pay(page, 'succeeds');
  const expected = `https://app.example/billing?tab=plans&checkout_session_id=${asked.reference}`;
  expect([status, location]).toEqual([303, expected]);
  expect(await now()).toMatchObject({ status: 'complete' });
  const { text } = await look(page);
  expect(text).toContain('It is paid');
});

test.each(['javascript:alert(1)', '/billing', ''])(
  'without a usable return URL (%p) the page shows that it is paid',
  async (returnUrl) => {
    const { page, now } = await newCheckout(prices.pack, { returnUrl });
    const { status, location } = await pay(page, 'succeeds');
    expect([status, location, (await now()).status]).toEqual([303, page, 'complete']);
    const { text } = await look(page);
    expect(text).toContain('It is paid');
    expect(text).not.toContain('href');
  },
);

test('two tabs that pay at once pay once', async () => {
  const since = opened.now();
  const { page, asked, now } = await newCheckout();
  const both = await Promise.all(Array.from({ length: 5 }, () => pay(page, 'succeeds')));
  expect(new Set(both.map(({ location }) => location)).size).toBe(1);
  const { payment_id } = await now();
  const paid = (await eventsOf(opened, since)).filter(({ type }) => type === 'payment_intent.succeeded');
  const payments = await Promise.all(paid.map(({ object }) => opened.provider.getPayment(object.id)));
  expect(payments.filter(({ account_id }) => account_id === asked.accountId)).toHaveLength(1);
  expect(payments.map(({ id }) => id)).toContain(payment_id);
});

test.each<[string, Record<string, string>, string]>([
  ['a declined card', typed('declined'), 'Your card was declined.'],
  ['a card with too little on it', typed('insufficient_funds'), 'Your card has insufficient funds.'],
  ['Decline', { action: 'decline' }, 'Your card was declined.'],
])('%s: the page stays, with the reason', async (_what, fields, reason) => {
  const { page, now } = await newCheckout();
  const { status, text } = await send(page, fields);
  expect(status).toBe(402);
  expect(text).toContain(reason);
  expect(text).toContain('role="alert"');
  const { status: state, payment_id } = await now();
  expect(state).toBe('open');
  expect(await opened.provider.getPayment(payment_id ?? '')).toMatchObject({ status: 'failed', failure: reason });
});

test('Close leads back unpaid, and the checkout stays open', async () => {
  const { page, asked, now } = await newCheckout();
  const { status, location } = await send(page, { action: 'close' });
  const expected = `https://app.example/billing?tab=plans&checkout_session_id=${asked.reference}&cancelled=true`;
  expect([status, location]).toEqual([303, expected]);
  expect(await now()).toMatchObject({ status: 'open', payment_id: null });
});

test('a test card can be used with one click', async () => {
  const { page, now } = await newCheckout();
  await send(page, { action: 'use:succeeds' });
  expect(await now()).toMatchObject({ status: 'complete' });
});

test('an invalid field shows its error, and no payment is attempted', async () => {
  const { page, now } = await newCheckout();
  const { status, text } = await pay(page, 'succeeds', { number: '4242424242424241', cvc: '1' });
  expect(status).toBe(422);
  expect(text).toMatch(/id="number"[^>]*aria-invalid="true" aria-describedby="number-error"/);
  expect(text).toMatch(/id="cvc"[^>]*aria-describedby="cvc-error"/);
  expect(text).not.toContain('expiry-error');
  expect(text).not.toContain('4242424242424241');
  expect(await now()).toMatchObject({ status: 'open', payment_id: null });
});

test('3-D Secure asks for confirmation, and then the checkout is paid', async () => {
  const { page, now } = await newCheckout(prices.small);
  expect(await pay(page, 'authenticates')).toMatchObject({ status: 303, location: page });
  expect(await now()).toMatchObject({ status: 'open' });
  expect((await look(page)).text).toContain('Your bank asks whether it is you');
  const { location } = await send(page, { action: 'confirm' });
  expect(location).toContain('checkout_session_id=');
  const { status, subscription_id } = await now();
  expect(status).toBe('complete');
  expect(await opened.provider.getSubscription(subscription_id ?? '')).toMatchObject({ status: 'active' });
});

test('a customer who refuses 3-D Secure has a failed payment, and can use another card', async () => {
  const { page, now } = await newCheckout();
  await pay(page, 'authenticates');
  expect(await opened.provider.getPayment((await now()).payment_id ?? '')).toMatchObject({ status: 'pending' });
  expect(await send(page, { action: 'refuse' })).toMatchObject({ status: 402 });
  expect(await opened.provider.getPayment((await now()).payment_id ?? '')).toMatchObject({ status: 'failed' });
  await pay(page, 'succeeds');
  expect(await now()).toMatchObject({ status: 'complete' });
});

test('a confirmation without a question pays nothing', async () => {
  const { page, now } = await newCheckout();
  await send(page, { action: 'confirm' });
  expect(await now()).toMatchObject({ status: 'open', payment_id: null });
});

test('a card is saved on its page, also with 3-D Secure; a declined one is not', async () => {
  const { id } = await newCustomer(opened.provider);
  const { id: setupId, client_secret } = await opened.provider.createSetupIntent(id, newKey());
  const page = `${opened.url}/setup/${client_secret}`;
  expect(await pay(page, 'declined')).toMatchObject({ status: 402 });
  expect((await pay(page, 'authenticates')).text).toContain('Your bank asks');
  expect(await opened.provider.listPaymentMethods(id)).toEqual([]);
  expect((await send(page, { action: 'confirm' })).text).toContain('The card is saved');
  await pay(page, 'succeeds');
  expect(await opened.provider.listPaymentMethods(id)).toEqual([
    {
      id: expect.stringMatching(/^pm_/),
      brand: 'visa',
      last4: '3220',
      exp_month: 11,
      exp_year: 2039,
      is_default: true,
    },
  ]);
  expect(await look(`${page}0`)).toMatchObject({ status: 404 });
  const events = (await eventsOf(opened, new Date(0))).filter(({ object }) => object.id === setupId);
  expect(events.map(({ type }) => type)).toEqual(['setup_intent.succeeded']);
});

test('a card that was detached is not charged again', async () => {
  const customer = await newCustomer(opened.provider);
  const { id, client_secret } = await opened.provider.createSetupIntent(customer.id, newKey());
  await opened.saveCard(client_secret, 'succeeds');
  const [card] = await opened.provider.listPaymentMethods(customer.id);
  await opened.provider.detachPaymentMethod(customer.id, card?.id ?? '');
  await expect(opened.provider.useSavedCard(id, newKey())).rejects.toEqual(refusal('not_found'));
  expect(await opened.provider.listPaymentMethods(customer.id)).toEqual([]);
});

test('links use the current base URL, because the port may be known late', async () => {
  let base = 'http://nowhere.example';
  const clock = createTestClock();
  const { logger } = captureLogs();
  const { provider, stop } = createSimulatedProvider({ file: ':memory:', clock, baseUrl: () => base, logger });
  const { id } = await provider.createCheckout(checkoutOf(await newCustomer(provider), prices.pack), newKey());
  base = 'http://127.0.0.1:1234/pay/';
  expect((await provider.getCheckout(id)).url).toBe(`http://127.0.0.1:1234/pay/checkout/${id}`);
  await stop();
});

test('a receipt shows the paid and the refunded amount', async () => {
  const { paymentId } = await buy(opened, prices.pack);
  const refund = { paymentId, amountCents: 250, reason: 'duplicate' as const, reference: 'ref_1' };
  await opened.provider.createRefund(refund, newKey());
  const { receipt_url } = await opened.provider.getPayment(paymentId);
  const { status, text } = await look(receipt_url ?? '');
  expect(status).toBe(200);
  for (const expected of ['$9.00', '$2.50', 'visa ending in 4242']) expect(text).toContain(expected);
});

test('other paths, methods and bodies are refused', async () => {
  const { page } = await newCheckout();
  for (const path of [
    '/',
    '/checkout',
    '/checkout/cs_sim_0',
    '/setup/seti_0',
    '/receipts/pi_0',
    '/toString/x',
    '/%',
    `/checkout/${'x/'.repeat(9)}`,
  ])
    expect([path, (await look(opened.url + path)).status]).toEqual([path, 404]);
  const put = await fetch(page, { method: 'PUT', body: 'x' });
  const json = await fetch(page, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  const long = await fetch(page, { method: 'POST', body: new URLSearchParams({ number: '4'.repeat(20_000) }) });
  expect([put.status, json.status, long.status]).toEqual([405, 400, 400]);
  const head = await fetch(page, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('no card number is in the store, in the events or in the log', async () => {
  for (const card of Object.keys(numbers) as CardName[]) await pay((await newCheckout(prices.small)).page, card);
  await pay((await newCheckout()).page, 'succeeds', { number: '5555555555554444' });
  await opened.tick();
  const files = (await readdir(folder)).map((name) => readFile(join(folder, name), 'latin1'));
  const kept = (await Promise.all(files)).join('') + opened.logs.text();
  expect(kept.length).toBeGreaterThan(10_000);
  expect(kept).toContain('4242');
  for (const number of [...Object.values(numbers), '5555555555554444'])
    expect(kept).not.toContain(number.replaceAll(' ', '').slice(0, 12));
});
