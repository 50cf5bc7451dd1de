import { addPaymentMethod, createCheckoutSession, listPaymentMethods } from '@attribution/contracts';
import { internalToken, personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney, webhookSecret } from './support-money.ts';
import { notification, sendWebhook } from './support-webhooks.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
});
afterAll(() => money.stop());

test('after a complete journey, with refusals and failures, no log and no table of billing contains a secret', async () => {
  const tenant = await money.newTenant();
  const token = personToken({ account: tenant.account });
  const person = money.client.with({ token, headers: { 'idempotency-key': 'a-key-of-mine' } });
  await money.buy(tenant, 'starter');
  const { client_secret } = (await person.call(addPaymentMethod)).body;
  await person.call(addPaymentMethod);
  await money.saveCard(client_secret, 'succeeds');
  await money.settle();
  await person.call(listPaymentMethods);
  await person.call(createCheckoutSession, { body: { mode: 'payment', plan_key: 'nothing' } });
  await money.refund(tenant, { amount_cents: 100 });

  faults.fail('createSetupIntent');
  faults.fail('getPayment');
  await money.client.with({ token }).call(addPaymentMethod);
  await money.refund(tenant, { amount_cents: 100 });
  faults.mend();
  await sendWebhook(money, notification('x', { id: 'seti_1', object: 'setup_intent', client_secret: 'told_secret' }));
  await sendWebhook(money, notification('x', { id: 'seti_2', object: 'setup_intent', client_secret }), 'wrong');
  await money.db.query('ALTER TABLE provider_events RENAME TO events_away');
  await sendWebhook(money, notification('x', { id: 'seti_3', object: 'setup_intent', client_secret }));
  await money.db.query('ALTER TABLE events_away RENAME TO provider_events');
  money.clock.advance({ minutes: 10 });
  await money.settle();

  const logs = money.logs.text();
  expect(logs).toContain('A request failed');
  expect(logs).toContain('A notification is about an object that the provider does not have');
  const tables = await money.rows(
    "SELECT relname AS name FROM pg_stat_user_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  const kept = await Promise.all(tables.map(({ name }) => money.rows(`SELECT * FROM "${name}"`)));
  const everything = logs + JSON.stringify(kept) + JSON.stringify(money.published);
  expect(everything).toContain(tenant.account);
  for (const secret of [
    webhookSecret,
    client_secret,
    'told_secret',
    '_secret_',
    token,
    internalToken('billing', 'billing'),
    '4242424242424242',
    '4242 4242 4242 4242',
  ])
    expect(everything.includes(secret)).toBe(false);
});
