import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestClock, eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import Stripe from 'stripe';
import { buy, checkoutOf, eventsOf, newCustomer, newKey, prices } from './provider-support.ts';
import { openSimulated, serve } from './simulated-support.ts';

interface Received {
  readonly body: Buffer;
  readonly signature: string | undefined;
}

let folder: string;
let receiver: Awaited<ReturnType<typeof serve>>;
let received: Received[];
/** The responses of the receiver to successive requests; after the last one, 200. */
let answers: number[];
const opened: Awaited<ReturnType<typeof openSimulated>>[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulated-'));
  [received, answers] = [[], []];
  receiver = await serve((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      received.push({ body: Buffer.concat(chunks), signature: req.headers['stripe-signature']?.toString() });
      res.writeHead(answers.shift() ?? 200).end();
    });
  });
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await receiver.close();
  await rm(folder, { recursive: true });
});

async function open(clock = createTestClock()) {
  const one = await openSimulated({ file: join(folder, 'deep', 'simulated.db'), webhookUrl: receiver.url, clock });
  opened.push(one);
  return one;
}
type Opened = Awaited<ReturnType<typeof open>>;

const idsOf = ({ provider }: Opened) =>
  received.map(({ body, signature }) => provider.readWebhook(body, signature)?.id);
const listed = async (one: Opened) => (await eventsOf(one, new Date(0))).map(({ id }) => id);

test('every event is sent once, in order, signed, and in the same form as it is listed', async () => {
  const one = await open();
  await buy(one, prices.small);
  await one.tick();
  await one.tick();
  expect(received).toHaveLength(4);
  expect(idsOf(one)).toEqual(await listed(one));
  const event: unknown = JSON.parse(String(received.at(-1)?.body));
  expect(event).toEqual({
    id: expect.stringMatching(/^evt_/),
    object: 'event',
    api_version: expect.any(String),
    created: expect.any(Number),
    livemode: false,
    type: 'checkout.session.completed',
    data: { object: expect.objectContaining({ id: expect.stringMatching(/^cs_sim_/), object: 'checkout.session' }) },
  });
});

test('Stripe’s own library accepts the notifications, with either secret during a rotation', async () => {
  const one = await open();
  await buy(one, prices.pack);
  await one.tick();
  const { webhooks } = new Stripe('sk_test_unused');
  for (const { body, signature = '' } of received)
    for (const secret of one.secrets) {
      const event = webhooks.constructEvent(body, signature, secret, 300, undefined, one.now().getTime());
      expect(event).toEqual(JSON.parse(String(body)));
    }
});

test('a notification that is not accepted is sent again after growing delays, with a new signature each time', async () => {
  const one = await open();
  await buy(one, prices.pack);
  answers = [500, 404, 302, 503];
  await one.tick();
  expect(received).toHaveLength(2);
  await one.tick();
  expect(received).toHaveLength(2);
  one.clock.advance({ seconds: 2 });
  await one.tick();
  expect(received).toHaveLength(4);
  one.clock.advance({ seconds: 4 });
  await one.tick();
  expect(received).toHaveLength(4);
  one.clock.advance({ seconds: 400 });
  await one.tick();
  expect(received).toHaveLength(6);
  const events = await listed(one);
  const late = received.slice(4).map(({ body, signature }) => one.provider.readWebhook(body, signature)?.id);
  expect(late).toEqual(events);
  expect(one.provider.readWebhook(received[0]?.body ?? Buffer.alloc(0), received[0]?.signature)).toBeUndefined();
  one.clock.advance({ days: 9 });
  await one.tick();
  expect(received).toHaveLength(6);
});

test('a notification that is never accepted is finally given up', async () => {
  const one = await open();
  await buy(one, prices.pack);
  answers = Array.from({ length: 100 }, () => 500);
  for (let day = 0; day < 20; day++) {
    await one.tick();
    one.clock.advance({ days: 1 });
  }
  expect(received).toHaveLength(2 * 11);
  expect(one.logs.text()).toContain('A notification is given up');
  expect(await listed(one)).toHaveLength(2);
});

test('a receiver that is down for a while loses nothing', async () => {
  const one = await open();
  const { url } = receiver;
  await receiver.close();
  await buy(one, prices.pack);
  await one.tick();
  receiver = await serve(
    (req, res) => {
      req.resume().on('end', () => {
        received.push({ body: Buffer.alloc(0), signature: undefined });
        res.end();
      });
    },
    Number(new URL(url).port),
  );
  one.clock.advance({ seconds: 2 });
  await one.tick();
  expect(received).toHaveLength(2);
});

test('once started, it sends events as soon as they happen', async () => {
  const one = await open();
  one.start();
  await buy(one, prices.pack);
  await eventually(() => expect(received).toHaveLength(2));
  expect(idsOf(one)).toEqual(await listed(one));
});

test('restarted with the same file, it continues where it stopped', async () => {
  const clock = createTestClock();
  const before = await open(clock);
  const { customer, subscriptionId } = await buy(before, prices.small);
  const [asked, key] = [checkoutOf(customer, prices.pack), newKey()];
  const checkout = await before.provider.createCheckout(asked, key);
  answers = [500];
  await before.tick();
  expect(received).toHaveLength(4);
  await before.close();
  await expect(before.provider.getCheckout(checkout.id)).rejects.toMatchObject({ kind: 'unavailable' });

  clock.advance({ seconds: 2 });
  const after = await open(clock);
  await after.tick();
  expect(received).toHaveLength(5);
  expect(received[4]?.body).toEqual(received[0]?.body);
  expect((await after.provider.createCheckout(asked, key)).id).toBe(checkout.id);
  await after.pay(await after.provider.getCheckout(checkout.id), 'succeeds');
  expect(await after.provider.getCheckout(checkout.id)).toMatchObject({ status: 'complete' });

  clock.advance({ days: 32 });
  await after.tick();
  expect(await after.provider.getSubscription(subscriptionId)).toMatchObject({ status: 'active' });
  expect((await listed(after)).length).toBeGreaterThan(6);
});

test('without a webhook nothing is sent, and everything is listed', async () => {
  const one = await openSimulated();
  opened.push(one);
  await one.provider.createCheckout(checkoutOf(await newCustomer(one.provider), prices.pack), newKey());
  await buy(one, prices.pack);
  await one.tick();
  expect([received, (await listed(one)).length]).toEqual([[], 2]);
});
