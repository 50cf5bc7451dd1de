import { deleteApiKey, getMe, getMyPermissions, listPlans, rotateApiKey } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, join, type Person, startAccountService, statusesOf } from './support.ts';
import { auditRecordsOn, keyEvents, makeKey, outcomeOf, readKey, revoked, tokenOf } from './support-keys.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const remove = (id: string, client = ada.client) => client.call(deleteApiKey, { params: { id } });

test('204: the key gives no more tokens, and remains in the list', async () => {
  const { access_key_secret, ...key } = await makeKey(ada.client, { expires_in: '7d' });
  const before = service.clock.now().getTime();
  const { status, body } = await remove(key.id);
  expect([status, body]).toEqual([204, undefined]);
  expect(await outcomeOf(service, { ...key, access_key_secret })).toBe(revoked);
  const remaining = await readKey(ada.client, key.id);
  expect(remaining).toEqual({ ...key, revoked_at: expect.stringMatching(/Z$/) });
  expect(Date.parse(remaining.revoked_at ?? '')).toBeGreaterThanOrEqual(before);
});

test('204 twice: the first revocation stays as it was, and is published once', async () => {
  const bob = await join(service);
  const key = await makeKey(bob.client);
  await remove(key.id, bob.client);
  const first = await readKey(bob.client, key.id);
  service.clock.advance({ seconds: 1 });
  expect((await remove(key.id, bob.client)).status).toBe(204);
  expect(await readKey(bob.client, key.id)).toEqual(first);
  expect((await auditRecordsOn(service, key.id)).map(({ action }) => action)).toEqual([
    'api_key.created',
    'api_key.revoked',
  ]);
  expect((await keyEvents(service, bob.accountId)).map(({ type }) => type)).toEqual([
    'api_key.created',
    'api_key.revoked',
  ]);
});

test('20 deletions at once are 204 each, and one event is published', async () => {
  const bob = await join(service);
  const key = await makeKey(bob.client);
  expect(statusesOf(await atOnce(() => remove(key.id, bob.client)))).toEqual({ 204: 20 });
  const events = (await keyEvents(service, bob.accountId)).filter(({ type }) => type === 'api_key.revoked');
  expect(events).toHaveLength(1);
});

test('204: a rotated key that is deleted in its grace period stops at once; the new one works', async () => {
  const old = await makeKey(ada.client);
  const { body: renewed } = await ada.client.call(rotateApiKey, { params: { id: old.id }, body: { grace: '48h' } });
  expect(await outcomeOf(service, old)).toBe(200);
  const rotated = await readKey(ada.client, old.id);
  expect((await remove(old.id)).status).toBe(204);
  expect(await outcomeOf(service, old)).toBe(revoked);
  expect(await outcomeOf(service, renewed)).toBe(200);
  expect(await readKey(ada.client, old.id)).toEqual({ ...rotated, revoked_at: expect.any(String) });
});

test('204: a key that has expired can be deleted too', async () => {
  const key = await makeKey(ada.client, { expires_in: '1s' });
  service.clock.advance({ seconds: 2 });
  expect((await remove(key.id)).status).toBe(204);
  expect(await outcomeOf(service, key)).toBe(revoked);
});

test('a token from before the deletion is valid until it expires', async () => {
  const key = await makeKey(ada.client, { role: 'member', readonly: false });
  const client = service.client.with({ token: await tokenOf(service, key) });
  await remove(key.id);
  expect((await client.call(listPlans)).status).toBe(200);
  service.clock.advance({ minutes: 15 });
  expect((await client.call(listPlans)).status).toBe(401);
});

test('403: the token of a real key is refused by endpoints for people', async () => {
  const bob = await join(service);
  const key = await makeKey(bob.client, { role: 'admin', readonly: false });
  const client = service.client.with({ token: await tokenOf(service, key) });
  const answers = [await client.call(getMe), await client.call(getMyPermissions), await remove(key.id, client)];
  expect(statusesOf(answers)).toEqual({ 403: 3 });
  expect(await outcomeOf(service, key)).toBe(200);
});
