import {
  accountLimitsChanged,
  createInvitation,
  type EventData,
  freePlan,
  listPlans,
  resendInvitation,
  subscriptionDeleted,
  subscriptionUpdated,
} from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join, newEmail, type Person, startAccountService } from './support.ts';
import { accept, addMember, invite } from './support-members.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

type Subscription = Partial<EventData<typeof subscriptionUpdated>>;

const subscribe = ({ accountId }: Person, fields: Subscription, event = subscriptionUpdated) =>
  service.deliver(
    event,
    { account_id: accountId, subscription_id: 'sub_1', plan_key: 'growth', status: 'active', ...fields },
    accountId,
  );

/** Lets the plan of every account allow so many users. */
const allow = (users: number | null, plan = 'free') =>
  service.db.query('UPDATE plans SET max_users = $1 WHERE key = $2', [users, plan]);

const inviteSomebody = ({ client }: Person) => client.call(createInvitation, { body: { email: newEmail() } });
const planOf = async ({ accountId }: Person) =>
  (await service.db.query('SELECT plan_key FROM accounts WHERE id = $1', [accountId])).rows[0]?.plan_key;

test('the limits of accounts without a subscription are those that other services know', async () => {
  const { client } = await join(service);
  const [free] = (await client.call(listPlans)).body;
  expect(free?.entitlements).toMatchObject(freePlan);
});

test('422: a user more than the plan allows, those who are invited among them', async () => {
  const ada = await join(service);
  await allow(3);
  await addMember(service, ada);
  const { id, token } = await invite(service, ada);
  const refused = { kind: 'unprocessable', detail: 'The plan allows 3 users, with those who are invited.' };
  expect((await inviteSomebody(ada)).problem).toMatchObject(refused);

  // An invitation that has expired takes no place, and takes one again when it is sent again.
  await service.db.query('UPDATE invitations SET expires_at = now() WHERE id = $1', [id]);
  const other = await inviteSomebody(ada);
  expect(other.status).toBe(201);
  const resend = () => ada.client.call(resendInvitation, { params: { id } });
  expect((await resend()).problem).toMatchObject(refused);
  await service.db.query('DELETE FROM invitations WHERE id = $1', [other.body.id]);
  expect((await resend()).status).toBe(202);
  expect((await resend()).status).toBe(202);
  expect((await accept(service, token)).status).toBe(404);
  await allow(freePlan.users);
});

test('of many who are invited at once, as many are as there is room for', async () => {
  const ada = await join(service);
  await allow(4);
  const answers = await Promise.all(Array.from({ length: 8 }, () => inviteSomebody(ada)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 422, 422, 422, 422, 422]);
  await allow(freePlan.users);
});

test('a subscription gives the account the limits of its plan, and its end takes away nobody', async () => {
  const ada = await join(service);
  await allow(1);
  expect((await inviteSomebody(ada)).status).toBe(422);
  await subscribe(ada, { plan_key: 'enterprise' });
  expect((await inviteSomebody(ada)).status).toBe(201);
  await subscribe(ada, { plan_key: 'enterprise', status: 'canceled' }, subscriptionDeleted);
  expect((await inviteSomebody(ada)).status).toBe(422);
  const { rows } = await service.db.query('SELECT 1 FROM invitations WHERE account_id = $1', [ada.accountId]);
  expect(rows).toHaveLength(1);
  await allow(freePlan.users);
});

test('each change of limits is announced once', async () => {
  const ada = await join(service);
  const account_id = ada.accountId;
  const changes = () =>
    service.published.filter((one) => one.type === accountLimitsChanged.type && one.account_id === account_id);
  await subscribe(ada, {});
  await subscribe(ada, { status: 'past_due' });
  await subscribe(ada, { plan_key: 'starter' });
  await subscribe(ada, { plan_key: 'starter', status: 'canceled' }, subscriptionDeleted);
  await eventually(() => expect(changes()).toHaveLength(3));
  expect(changes().map(({ data }) => data)).toEqual([
    { account_id, limits_version: 1, plan_key: 'growth', users: 250, locations: 5000, screens: 25_000 },
    { account_id, limits_version: 2, plan_key: 'starter', users: 50, locations: 500, screens: 2500 },
    { account_id, limits_version: 3, plan_key: 'free', ...freePlan },
  ]);
});

test('a subscription that was never paid, of an unknown plan, or that another has replaced changes nothing', async () => {
  const ada = await join(service);
  await subscribe(ada, { status: 'incomplete' });
  await subscribe(ada, { plan_key: 'of-yesterday' });
  expect(await planOf(ada)).toBe('free');
  await subscribe(ada, {});
  await subscribe(ada, { subscription_id: 'sub_2', plan_key: 'starter' });
  await subscribe(ada, { status: 'canceled' }, subscriptionDeleted);
  expect(await planOf(ada)).toBe('starter');
});
