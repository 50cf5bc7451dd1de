import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signWebhook } from '../src/provider/signature.ts';
import { type Money, startMoney, webhookSecret } from './support-money.ts';
import { notification, secondsOf, sendWebhook } from './support-webhooks.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

const body = notification('payment_intent.succeeded', { id: 'pi_1', object: 'payment_intent' });
const sign = (bytes: string, secret = webhookSecret, ago = 0) => signWebhook(bytes, [secret], secondsOf(money) - ago);
const signature = () => sign(body);
const nothingIsKept = async () => expect(await money.rows('SELECT * FROM provider_events')).toEqual([]);

test.each<[string, () => [string, string | null]]>([
  ['without a signature', () => [body, null]],
  ['with an empty signature', () => [body, '']],
  ['with a signature that is none', () => [body, 'opaque']],
  ['signed with another secret', () => [body, sign(body, 'whsec_of_somebody')]],
  ['signed with an empty secret', () => [body, sign(body, '')]],
  [
    'signed with the right secret at a wrong time',
    () => [body, signature().replace(/t=\d+/, `t=${secondsOf(money) + 1}`)],
  ],
  ['signed without a time', () => [body, signature().replace(/t=\d+,/, '')]],
  ['signed with a time that is none', () => [body, signature().replace(/t=\d+/, 't=now')]],
  ['signed by another scheme', () => [body, signature().replace('v1=', 'v0=')]],
  ['with half a signature', () => [body, signature().slice(0, -32)]],
  ['that is older than five minutes', () => [body, sign(body, webhookSecret, 301)]],
  ['that was cut short', () => [body.slice(0, -1), signature()]],
  ['to which something was added', () => [`${body} `, signature()]],
  ['of which a letter was changed', () => [body.replace('pi_1', 'pi_2'), signature()]],
  ['that is empty', () => ['', signature()]],
  ['that is empty and unsigned', () => ['', null]],
  ['that is empty, and signed', () => ['', sign('')]],
  ['that is signed and no JSON', () => ['{', sign('{')]],
  ['that is signed and no notification', () => ['{"id":"evt_1"}', sign('{"id":"evt_1"}')]],
  ['that is signed and a list', () => ['[]', sign('[]')]],
])('400: a notification %s leaves nothing', async (_, given) => {
  const answer = await sendWebhook(money, ...given());
  expect(JSON.parse(answer.text)).toMatchObject({
    status: 400,
    type: 'https://problems.test/validation-error',
    detail: 'Stripe-Signature: does not sign this body, or is too old, or the body is no notification.',
  });
  await nothingIsKept();
});

test('400: a body of more than 256 KiB is not read, however it is signed', async () => {
  const object = { id: 'pi_1', object: 'payment_intent', description: 'x'.repeat(256 * 1024) };
  const answer = await sendWebhook(money, notification('payment_intent.succeeded', object));
  expect(JSON.parse(answer.text)).toMatchObject({ status: 400, detail: 'body: is larger than 262144 bytes.' });
  await nothingIsKept();
});

test('404: another path or method', async () => {
  for (const [method, path] of [
    ['GET', '/webhooks/stripe'],
    ['PUT', '/webhooks/stripe'],
    ['POST', '/webhooks/stripe/'],
    ['POST', '/webhooks/other'],
  ] as const)
    expect((await fetch(money.url + path, { method })).status).toBe(404);
});

test('200: the same body is accepted once it is correctly signed, up to five minutes late', async () => {
  expect((await sendWebhook(money, body, sign(body, webhookSecret, 295))).status).toBe(200);
  expect((await money.rows('SELECT object_id FROM provider_events')).length).toBe(1);
});

test('503: when it cannot be stored it is not accepted, so that it is sent again', async () => {
  await money.db.query('ALTER TABLE provider_events RENAME TO events_away');
  const again = notification('payment_intent.succeeded', { id: 'pi_9', object: 'payment_intent' });
  const answer = await sendWebhook(money, again);
  await money.db.query('ALTER TABLE events_away RENAME TO provider_events');
  expect(answer.status).toBe(503);
  expect((await sendWebhook(money, again)).status).toBe(200);
});
