import { afterEach, expect, test } from '@jest/globals';
import { fault, list, type StripeDouble, send, startStripeDouble } from './stripe-double.ts';

let double: StripeDouble;
afterEach(() => double.stop());

const setup = {
  id: 'seti_1',
  object: 'setup_intent',
  status: 'succeeded',
  customer: 'cus_1',
  payment_method: 'pm_new',
};
const subscription = (id: string, default_payment_method: string | null, status = 'active') => {
  return { id, object: 'subscription', status, default_payment_method };
};

/**
 * Responds for a setup and the subscriptions of its customer. Every write succeeds, except one to the `broken` object.
 */
async function answering(found: object, subscriptions: object[] = [], broken?: string) {
  const pages = [subscriptions.slice(0, 2), subscriptions.slice(2)];
  double = await startStripeDouble(({ method, path, params }, response) => {
    if (method === 'POST') {
      if (broken !== undefined && path.endsWith(broken)) send(response, 500, fault({ type: 'api_error' }));
      else send(response, 200, { id: path.split('/').at(-1) });
    } else if (path.startsWith('/v1/setup_intents/')) send(response, 200, found);
    else if (params.starting_after) send(response, 200, list(pages[1] ?? []));
    else send(response, 200, list(pages[0] ?? [], pages[1]?.length !== 0));
  });
  return double.provider({ retries: 0 });
}

const writes = () =>
  double.asked
    .filter(({ method }) => method === 'POST')
    .map(({ path, params, headers }) => [path.replace('/v1/', ''), params, headers['idempotency-key']]);

const ofCustomer = ['customers/cus_1', { 'invoice_settings[default_payment_method]': 'pm_new' }, 'use-customer'];
const ofSubscription = (id: string) => [`subscriptions/${id}`, { default_payment_method: 'pm_new' }, `use-${id}`];

test('a saved card becomes the default of the customer, and of each live subscription with its own default', async () => {
  const stripe = await answering(setup, [
    subscription('sub_none', null),
    subscription('sub_own', 'pm_old'),
    subscription('sub_expired', 'pm_old', 'incomplete_expired'),
    subscription('sub_late', 'pm_old', 'past_due'),
    subscription('sub_done', 'pm_new'),
  ]);
  await stripe.useSavedCard('seti_1', 'use');
  expect(writes()).toEqual([ofCustomer, ofSubscription('sub_own'), ofSubscription('sub_late')]);
  const listed = double.asked.filter(({ path }) => path.startsWith('/v1/subscriptions?'));
  expect(listed.map(({ params }) => [params.customer, params.status])).toEqual([
    ['cus_1', undefined],
    ['cus_1', undefined],
  ]);
});

test.each([
  ['a customer', 'cus_1', 'cus_1'],
  ['a customer that is expanded', { id: 'cus_1' }, 'cus_1'],
  ['nobody', null, ''],
])('a set-up of %s says whose it is', async (_, customer, customer_id) => {
  const stripe = await answering({ ...setup, customer });
  expect(await stripe.getSetup('seti_1')).toEqual({ id: 'seti_1', customer_id });
});

test.each([
  ['waits for a card', { ...setup, status: 'requires_payment_method', payment_method: null }],
  ['waits for the bank', { ...setup, status: 'requires_action' }],
  ['was canceled', { ...setup, status: 'canceled' }],
  ['is of nobody', { ...setup, customer: null }],
])('a set-up that %s changes nothing', async (_, found) => {
  const stripe = await answering(found, [subscription('sub_own', 'pm_old')]);
  await stripe.useSavedCard('seti_1', 'use');
  expect(double.asked.map(({ method, path }) => [method, path])).toEqual([['GET', '/v1/setup_intents/seti_1']]);
});

test('an interrupted change is unavailable, and completed under the same keys when it is repeated', async () => {
  const subscriptions = [subscription('sub_own', 'pm_old'), subscription('sub_late', 'pm_old')];
  const broken = await answering(setup, subscriptions, 'sub_own');
  await expect(broken.useSavedCard('seti_1', 'use')).rejects.toMatchObject({ kind: 'unavailable' });
  expect(writes()).toEqual([ofCustomer, ofSubscription('sub_own')]);
  await double.stop();
  await (await answering(setup, subscriptions)).useSavedCard('seti_1', 'use');
  expect(writes()).toEqual([ofCustomer, ofSubscription('sub_own'), ofSubscription('sub_late')]);
});
