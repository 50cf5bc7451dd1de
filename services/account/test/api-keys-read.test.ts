import { deleteApiKey, getApiKey, listApiKeys, rotateApiKey } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { enter, getRaw, join, startAccountService } from './support.ts';
import { addGroup, fillKeys, makeKey } from './support-keys.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

test('200: without keys the list is empty', async () => {
  const { client } = await join(service);
  const { status, body } = await client.call(listApiKeys);
  expect([status, body]).toEqual([200, []]);
});

test('200: the list is a bare array, newest first, with each key as it is read by id', async () => {
  const { client, accountId } = await join(service);
  const group = await addGroup(service, accountId);
  const first = await makeKey(client, { name: 'First' });
  const second = await makeKey(client, { name: 'Second', group_scope: 'selected', groups: [group] });
  const third = await makeKey(client, { name: 'Third', role: 'admin', readonly: false, expires_in: '1d' });
  const { body } = await client.call(listApiKeys);
  expect(body.map(({ id }) => id)).toEqual([third.id, second.id, first.id]);
  for (const listed of body) expect((await client.call(getApiKey, { params: { id: listed.id } })).body).toEqual(listed);
});

test('200: neither the secret nor its hash is ever returned again', async () => {
  const { client, session } = await join(service);
  const { id, access_key_secret } = await makeKey(client);
  const [row] = (await service.db.query('SELECT secret_hash FROM api_keys WHERE id = $1', [id])).rows as [
    { secret_hash: string },
  ];
  for (const path of ['/v2/api-keys', `/v2/api-keys/${id}`]) {
    const { text } = await getRaw(service, path, session.access_token);
    expect(text).toContain(id);
    for (const hidden of ['secret', 'hash', access_key_secret, row.secret_hash]) expect(text).not.toContain(hidden);
  }
});

test('200: rotated, expired and revoked keys stay in the list', async () => {
  const { client } = await join(service);
  const revoked = await makeKey(client);
  const rotated = await makeKey(client);
  const expired = await makeKey(client, { expires_in: '1m' });
  await client.call(deleteApiKey, { params: { id: revoked.id } });
  const { body: renewed } = await client.call(rotateApiKey, { params: { id: rotated.id } });
  service.clock.advance({ minutes: 2 });
  const { body } = await client.call(listApiKeys);
  expect(body.map(({ id }) => id)).toEqual([renewed.id, expired.id, rotated.id, revoked.id]);
  const [, dead, old, gone] = body;
  expect(Date.parse(dead?.expires_at ?? '')).toBeLessThan(service.clock.now().getTime());
  expect(old).toMatchObject({ rotated_at: expect.any(String), expires_at: old?.rotated_at, revoked_at: null });
  expect(gone).toMatchObject({ revoked_at: expect.any(String), rotated_at: null, expires_at: null });
});

test('200: of any number of keys the list has all that are live, and the newest 200 of the others', async () => {
  const { client, accountId } = await join(service);
  await fillKeys(service, accountId, 300, 1_000);
  const { body } = await client.call(listApiKeys);
  const now = service.clock.now().toISOString();
  const live = body.filter(({ revoked_at, expires_at }) => !revoked_at && (!expires_at || expires_at > now));
  expect([live.length, body.length]).toEqual([300, 500]);
  // Their ids are numbered in the order in which they were made, and the live ones were made last.
  expect(body.map(({ id }) => Number(id.slice(4, 12)))).toEqual(Array.from({ length: 500 }, (_, at) => 1_300 - at));
});

test('200: an account sees only its own keys', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const key = await makeKey(ada.client);
  await makeKey(bob.client);
  expect((await ada.client.call(listApiKeys)).body.map(({ id }) => id)).toEqual([key.id]);
});

test('200: a key outlives the user who created it, and still names that user', async () => {
  const ada = await join(service);
  const key = await makeKey(ada.client);
  const bob = await join(service);
  await service.db.query("UPDATE memberships SET account_id = $1, role = 'admin' WHERE user_id = $2", [
    ada.accountId,
    bob.userId,
  ]);
  await service.db.query('DELETE FROM users WHERE id = $1', [ada.userId]);
  const { access_token: token } = await enter(service, bob.email);
  const { body } = await service.client.with({ token }).call(getApiKey, { params: { id: key.id } });
  expect(body).toMatchObject({ created_by: ada.userId, revoked_at: null });
});
