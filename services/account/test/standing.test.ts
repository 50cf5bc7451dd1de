import {
  type Client,
  closeAccount,
  createApiKey,
  createInvitation,
  logout,
  removeUser,
  resendInvitation,
  rotateApiKey,
  transferOwnership,
  updateAccount,
  updateApiKey,
  updateUser,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { atOnce, count, join, newEmail, type Person, startAccountService, statusesOf } from './support.ts';
import { makeKey } from './support-keys.ts';
import { addMember, invite } from './support-members.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  await service.db.query('UPDATE plans SET max_users = NULL');
  ada = await join(service);
});
afterAll(() => service.stop());

const ended = { status: 401, kind: 'unauthorized', detail: 'This session has ended. Log in again.' };

/** The actions whose effect outlives an access token, each on an object that Ada has created for it. */
const lasting: readonly [string, (client: Client) => Promise<{ status: number; problem?: object | undefined }>][] = [
  ['a key made', async (client) => client.call(createApiKey, { body: { name: 'Export' } })],
  ['a key rotated', async (client) => client.call(rotateApiKey, { params: await aKey() })],
  ['a key changed', async (client) => client.call(updateApiKey, { params: await aKey(), body: { name: 'New' } })],
  ['an invitation', async (client) => client.call(createInvitation, { body: { email: newEmail() } })],
  ['an invitation sent again', async (client) => client.call(resendInvitation, { params: await anInvitation() })],
  ['a member changed', async (client) => client.call(updateUser, { params: await aMember(), body: { role: 'admin' } })],
  ['a member removed', async (client) => client.call(removeUser, { params: await aMember() })],
];
const aKey = async () => ({ id: (await makeKey(ada.client)).id });
const anInvitation = async () => ({ id: (await invite(service, ada)).id });
const aMember = async () => ({ id: (await addMember(service, ada)).userId });

describe.each(lasting)('%s', (_what, act) => {
  test('401: with the token of an admin who was removed, demoted or logged out', async () => {
    const removed = await addMember(service, ada, { role: 'admin' });
    await ada.client.call(removeUser, { params: { id: removed.userId } });
    const demoted = await addMember(service, ada, { role: 'admin' });
    await ada.client.call(updateUser, { params: { id: demoted.userId }, body: { role: 'member' } });
    const loggedOut = await addMember(service, ada, { role: 'admin' });
    await loggedOut.client.call(logout);
    for (const { client } of [removed, demoted, loggedOut]) expect((await act(client)).problem).toMatchObject(ended);
  });

  test('409: in an account that was closed meanwhile', async () => {
    const owner = await join(service);
    await owner.client.call(closeAccount, { params: { id: owner.accountId } });
    expect((await act(owner.client)).problem).toMatchObject({ status: 409, detail: 'The account is closed.' });
  });
});

test('refused requests have no effect', async () => {
  const { client, userId } = await addMember(service, ada, { role: 'admin' });
  await ada.client.call(removeUser, { params: { id: userId } });
  await client.call(createApiKey, { body: { name: 'Export' } });
  await client.call(createInvitation, { body: { email: newEmail() } });
  expect(await count(service, 'api_keys', 'created_by = $1', userId)).toBe(0);
  expect(await count(service, 'invitations', 'invited_by = $1', userId)).toBe(0);
  expect(await count(service, 'audit_log', "actor_id = $1 AND action <> 'session.opened'", userId)).toBe(1);
});

test('401: an owner’s stolen token cannot change the account after its session has ended', async () => {
  const owner = await join(service);
  const heir = await addMember(service, owner);
  await owner.client.call(logout);
  const params = { id: owner.accountId };
  for (const attempt of [
    owner.client.call(transferOwnership, { params, body: { user_id: heir.userId } }),
    owner.client.call(closeAccount, { params }),
    owner.client.call(updateAccount, { params, body: { require_mfa: true } }),
  ])
    expect((await attempt).problem).toMatchObject(ended);
  expect(await count(service, 'accounts', "id = $1 AND status = 'active' AND NOT require_mfa", owner.accountId)).toBe(
    1,
  );
});

test('403: rights that were reduced without ending the session apply at once', async () => {
  const { client, userId } = await addMember(service, ada, { role: 'admin' });
  await service.db.query(`UPDATE memberships SET services = '{"account":"r"}' WHERE user_id = $1`, [userId]);
  const { problem } = await client.call(createInvitation, { body: { email: newEmail() } });
  expect(problem).toMatchObject({ status: 403, detail: 'This credential may only read in account.' });
});

test('a removal and 20 keys at once: no key is made after the removal', async () => {
  const admin = await addMember(service, ada, { role: 'admin' });
  const removing = ada.client.call(removeUser, { params: { id: admin.userId } });
  const made = await atOnce(() => admin.client.call(createApiKey, { body: { name: 'Late' } }));
  const removal = await removing;
  expect(removal.status).toBe(204);
  const { 201: before = 0, 401: after = 0 } = statusesOf(made);
  expect(before + after).toBe(20);
  expect(await count(service, 'api_keys', 'created_by = $1', admin.userId)).toBe(before);
  expect((await admin.client.call(createApiKey, { body: { name: 'Later' } })).problem).toMatchObject(ended);
});

test('two admins who change each other 20 times at once: each response is consistent', async () => {
  const [one, other] = [
    await addMember(service, ada, { role: 'admin' }),
    await addMember(service, ada, { role: 'admin' }),
  ];
  const answers = await atOnce((i) => {
    const [by, whom] = i % 2 === 0 ? [one, other] : [other, one];
    return by.client.call(updateUser, {
      params: { id: whom.userId },
      body: { services: { account: 'w', campaign: 'r' } },
    });
  });
  const { 200: done = 0, 401: refused = 0, 403: less = 0 } = statusesOf(answers);
  expect([done > 0, done + refused + less]).toEqual([true, 20]);
});
