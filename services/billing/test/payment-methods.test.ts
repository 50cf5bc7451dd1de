import { addPaymentMethod, listPaymentMethods, removePaymentMethod } from '@attribution/contracts';
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

const add = (tenant: Tenant) => tenant.owner.call(addPaymentMethod);
const list = (tenant: Tenant) => tenant.owner.call(listPaymentMethods);
const remove = (tenant: Tenant, id: string) => tenant.owner.call(removePaymentMethod, { params: { id } });
async function save(tenant: Tenant, card: 'succeeds' | 'fails_later' = 'succeeds') {
  await money.saveCard((await add(tenant)).body.client_secret, card);
  await money.settle();
}

test('200: a customer who never paid has no card, and the provider is not called', async () => {
  expect((await list(await money.newTenant())).body).toEqual([]);
  expect(faults.callsOf('listPaymentMethods')).toEqual([]);
});

test('201: a client secret to save a card with; the card becomes the default when its notification is applied', async () => {
  const tenant = await money.newTenant();
  const { status, body, headers } = await add(tenant);
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
  expect(body).toEqual({ id: expect.stringMatching(/^seti_/), client_secret: expect.stringContaining(body.id) });
  expect((await list(tenant)).body).toEqual([]);
  await money.saveCard(body.client_secret, 'succeeds');
  await money.settle();
  expect((await list(tenant)).body).toEqual([
    {
      id: expect.stringMatching(/^pm_/),
      brand: 'visa',
      last4: '4242',
      exp_month: 11,
      exp_year: 2039,
      is_default: true,
    },
  ]);
});

test('200: the card that was saved last is the default, and is charged from then on', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter', 'fails_later');
  await save(tenant);
  expect((await list(tenant)).body).toMatchObject([
    { last4: '0341', is_default: false },
    { last4: '4242', is_default: true },
  ]);
  money.clock.advance({ days: 32 });
  await money.settle();
  expect((await money.paymentsOf(tenant)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
});

test('200: a card that is declined while it is saved is not listed', async () => {
  const tenant = await money.newTenant();
  const { client_secret } = (await add(tenant)).body;
  expect((await money.saveCard(client_secret, 'declined')).status).toBe(402);
  await money.settle();
  expect((await list(tenant)).body).toEqual([]);
});

test('204: a removed card disappears, and is no longer charged', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter');
  const [card] = (await list(tenant)).body;
  expect((await remove(tenant, card?.id ?? '')).status).toBe(204);
  expect((await list(tenant)).body).toEqual([]);
  money.clock.advance({ days: 32 });
  await money.settle();
  expect((await money.paymentsOf(tenant)).map(({ status }) => status)).toEqual(['failed', 'succeeded']);
  expect((await remove(tenant, card?.id ?? '')).status).toBe(404);
});

test('204: of twenty concurrent removals of a card one succeeds', async () => {
  const tenant = await money.newTenant();
  await save(tenant);
  const [card] = (await list(tenant)).body;
  const answers = await Promise.all(Array.from({ length: 20 }, () => remove(tenant, card?.id ?? '')));
  expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array<number>(19).fill(404)]);
});

test('404: the card of another customer, an unknown one and any text get the same response, and nothing is removed', async () => {
  const [tenant, other, stranger] = [await money.newTenant(), await money.newTenant(), await money.newTenant()];
  await save(tenant);
  await save(other);
  const [theirs] = (await list(other)).body;
  const { problem } = await remove(tenant, 'pm_unknown');
  expect(problem).toMatchObject({ status: 404, kind: 'not-found' });
  for (const id of [theirs?.id ?? '', 'x', '../customers', 'x'.repeat(255), 'x'.repeat(256)])
    expect((await remove(tenant, id)).problem).toEqual(problem);
  expect((await remove(stranger, theirs?.id ?? '')).problem).toEqual(problem);
  expect((await list(other)).body.length).toBe(1);
});

test('502: while the provider does not respond, cards cannot be listed, added or removed', async () => {
  const tenant = await money.newTenant();
  await save(tenant);
  const [card] = (await list(tenant)).body;
  faults.fail('listPaymentMethods');
  faults.fail('createSetupIntent');
  faults.fail('detachPaymentMethod');
  for (const { status, problem, headers } of [
    await list(tenant),
    await add(tenant),
    await remove(tenant, card?.id ?? ''),
  ])
    expect([status, problem?.kind, headers.get('retry-after')]).toEqual([502, 'upstream-error', '1']);
  faults.mend();
  expect((await list(tenant)).body.length).toBe(1);
});

test('a card that was removed before its notification was applied is not fetched again and again', async () => {
  const tenant = await money.newTenant();
  const { id, client_secret } = (await add(tenant)).body;
  await money.saveCard(client_secret, 'succeeds');
  const [card] = (await list(tenant)).body;
  await remove(tenant, card?.id ?? '');
  await money.settle();
  const events = await money.rows('SELECT attempts FROM provider_events WHERE object_id = $1', id);
  expect(events).toEqual([{ attempts: 0 }]);
});
