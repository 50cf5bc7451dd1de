import { changePlan } from '@attribution/contracts';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
});
beforeEach(() => faults.mend());
afterAll(() => money.stop());

async function subscriber() {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter');
  return tenant;
}
const change = (tenant: Tenant, plan_key: string) => tenant.owner.call(changePlan, { body: { plan_key } });

test('of concurrent changes to several plans one is made, so that no change is charged as a different one', async () => {
  const tenant = await subscriber();
  const plans = ['growth', 'enterprise', 'growth', 'enterprise', 'growth', 'enterprise'];
  const answers = await Promise.all(plans.map((plan) => change(tenant, plan)));
  const done = plans.filter((_, at) => answers[at]?.status === 200);
  expect(new Set(done).size).toBe(1);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  await money.settle();
  const [upgrade, first, ...others] = await money.paymentsOf(tenant);
  expect([upgrade?.kind, first?.amount_cents, others]).toEqual(['subscription', 4_900, []]);
});

test('a request for the same plan continues an unanswered change, which is made once', async () => {
  const tenant = await subscriber();
  faults.loseAnswer('changePlan');
  expect((await change(tenant, 'growth')).status).toBe(502);
  faults.mend();
  expect((await change(tenant, 'growth')).body).toMatchObject({ plan_key: 'growth', change_type: 'upgrade' });
  await money.settle();
  expect(await money.paymentsOf(tenant)).toHaveLength(2);
});

test('409: while the provider has not responded to one change, a change to another plan is refused; after a minute it is allowed', async () => {
  const tenant = await subscriber();
  faults.fail('changePlan');
  expect((await change(tenant, 'growth')).status).toBe(502);
  faults.mend();
  const detail = 'Another change of the plan is under way.';
  expect((await change(tenant, 'enterprise')).problem).toMatchObject({ status: 409, detail });
  money.clock.advance({ seconds: 61 });
  expect((await change(tenant, 'enterprise')).status).toBe(200);
});

test('409: a change that was decided for a plan that is no longer in force is not made', async () => {
  const tenant = await subscriber();
  await money.db.query(`UPDATE subscriptions SET plan_key = 'enterprise' WHERE account_id = $1`, [tenant.account]);
  const { problem } = await change(tenant, 'growth');
  expect(problem).toMatchObject({ status: 409, detail: 'The payment provider refuses this as things stand.' });
  await money.settle();
  expect(await money.paymentsOf(tenant)).toHaveLength(1);
});
