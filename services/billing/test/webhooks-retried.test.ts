import { eventually } from '@attribution/testing';
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

async function paid() {
  const tenant = await money.newTenant();
  await money.pay(await money.checkout(tenant, 'tokens_1000'));
  return tenant;
}
const waiting = () => money.rows('SELECT id, attempts, due_at, error FROM provider_events WHERE due_at IS NOT NULL');
/** Waits until so many attempts at each have ended; seconds from then to the next. */
const pauseAfter = (attempts: number) =>
  eventually(async () => {
    const events = await waiting();
    expect(new Set(events.map((event) => Number(event.attempts)))).toEqual(new Set([attempts]));
    const due = events.map((event) => (event.due_at as Date).getTime());
    return (Math.max(...due) - money.clock.now().getTime()) / 1000;
  });
/** As if there had been so many attempts. */
const pretend = (attempts: number) =>
  money.db.query('UPDATE provider_events SET attempts = $1, due_at = $2 WHERE due_at IS NOT NULL', [
    attempts,
    money.clock.now(),
  ]);
const statuses = async (tenant: Tenant) => (await money.paymentsOf(tenant)).map(({ status }) => status);

test('while the provider does not respond, a notification waits with growing delays, and then takes effect', async () => {
  const tenant = await paid();
  faults.fail('getPayment');
  faults.fail('getCheckout');
  await money.tick();
  const third = await pauseAfter(3);
  expect(third).toBeGreaterThan(1);
  expect(third).toBeLessThanOrEqual(4);
  expect((await waiting())[0]?.error).toBe('The provider says unavailable.');
  await pretend(8);
  const ninth = await pauseAfter(9);
  expect(ninth).toBeGreaterThan(250);
  expect(ninth).toBeLessThanOrEqual(256);
  await pretend(30);
  const last = await pauseAfter(31);
  expect(last).toBeGreaterThan(590);
  expect(last).toBeLessThanOrEqual(600);
  expect(await statuses(tenant)).toEqual([]);
  faults.mend();
  money.clock.advance({ minutes: 10 });
  await money.settle();
  expect(await statuses(tenant)).toEqual(['succeeded']);
  expect((await money.events(tenant, 1)).length).toBe(1);
  expect((await money.rows('SELECT 1 FROM provider_events WHERE error IS NOT NULL')).length).toBe(0);
});

test('an object that cannot be fetched does not block others', async () => {
  const [stuck, free] = [await paid(), await paid()];
  const [customer] = await money.rows(
    'SELECT provider_customer_id AS id FROM customers WHERE account_id = $1',
    stuck.account,
  );
  const theirs: string[] = [];
  for await (const { id } of money.provider.listPayments(String(customer?.id))) theirs.push(id);
  faults.before('getPayment', async () => {
    const [id] = faults.callsOf('getPayment').at(-1) ?? [];
    if (theirs.includes(String(id))) throw new Error('Not this one.');
  });
  await money.tick();
  await eventually(async () => expect(await statuses(free)).toEqual(['succeeded']));
  expect(await statuses(stuck)).toEqual([]);
  faults.mend();
  money.clock.advance({ minutes: 1 });
  await money.settle();
  expect(await statuses(stuck)).toEqual(['succeeded']);
});

test('a failure during the write leaves nothing, and the next attempt writes everything', async () => {
  const tenant = await paid();
  await money.db.query('ALTER TABLE money_entries RENAME TO entries_away');
  await money.tick();
  await eventually(async () => expect(Number((await waiting())[0]?.attempts)).toBeGreaterThan(0));
  expect(await statuses(tenant)).toEqual([]);
  await money.db.query('ALTER TABLE entries_away RENAME TO money_entries');
  money.clock.advance({ minutes: 1 });
  await money.settle();
  expect([await statuses(tenant), (await money.entriesOf(tenant)).length]).toEqual([['succeeded'], 1]);
  expect((await money.events(tenant, 1)).length).toBe(1);
});

test('when our own disk is full, the notification is not delayed further: it is applied once there is space', async () => {
  const former = new Set((await waiting()).map(({ id }) => id));
  const tenant = await paid();
  await money.db.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON money_entries FOR EACH ROW EXECUTE FUNCTION refuse()`);
  const asked = faults.callsOf('getPayment').length;
  await money.tick();
  await eventually(() => expect(faults.callsOf('getPayment').length).toBeGreaterThan(asked + 2));
  for (const { id, attempts } of await waiting()) if (!former.has(id)) expect(attempts).toBe(0);
  await money.db.query('DROP TRIGGER full_disk ON money_entries');
  await eventually(async () => expect(await statuses(tenant)).toEqual(['succeeded']));
  expect((await money.entriesOf(tenant)).length).toBe(1);
});
