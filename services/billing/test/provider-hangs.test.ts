import { cancelSubscription, listPayments } from '@attribution/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney } from './support-money.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
});
afterAll(() => money.stop());

test('while the provider hangs for more accounts than there are connections, all other requests are answered', async () => {
  const tenants = await Promise.all(Array.from({ length: 20 }, () => money.newTenant()));
  for (const tenant of tenants) await money.pay(await money.checkout(tenant, 'starter'));
  await money.settle();
  const gate = Promise.withResolvers<void>();
  faults.before('getSubscription', () => gate.promise);
  // Also several requests of one account, which would wait for the lock of its row.
  const [first] = tenants;
  const asking = [...tenants, first, first, first].map((tenant) => tenant?.owner.call(cancelSubscription));
  const others = await Promise.all(tenants.map((tenant) => tenant.owner.call(listPayments)));
  expect(others.map(({ status }) => status)).toEqual(tenants.map(() => 200));
  gate.resolve();
  const answers = await Promise.all(asking);
  expect(answers.map((answer) => answer?.body.cancel_at_period_end)).toEqual(answers.map(() => true));
});
