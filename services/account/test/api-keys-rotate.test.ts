import { deleteApiKey, rotateApiKey, updateApiKey } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, count, join, type Person, startAccountService, statusesOf, withClaims } from './support.ts';
import { addGroup, age, expired, fillKeys, type Key, makeKey, outcomeOf, readKey } from './support-keys.ts';
import { addMember } from './support-members.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const hour = 3_600_000;
const day = 24 * hour;

const rotate = (id: string, body?: unknown, client = ada.client) =>
  client.call(rotateApiKey, { params: { id }, ...(body !== undefined && { body: body as never }) });

async function rotated(key: Key, grace?: string): Promise<{ old: Omit<Key, 'access_key_secret'>; renewed: Key }> {
  const { status, body: renewed } = await rotate(key.id, grace === undefined ? undefined : { grace });
  expect(status).toBe(201);
  return { old: await readKey(ada.client, key.id), renewed };
}

const lengthOf = ({ created_at, expires_at }: Pick<Key, 'created_at' | 'expires_at'>) =>
  Date.parse(expires_at ?? '') - Date.parse(created_at);

test('201: a new key with the same rights and its own id and secret; the old secret stops at once', async () => {
  const group = await addGroup(service, ada.accountId);
  const key = await makeKey(ada.client, {
    name: 'Nightly',
    role: 'admin',
    readonly: false,
    group_scope: 'selected',
    groups: [{ group_id: group, role: 'a' }],
  });
  const { old, renewed } = await rotated(key);
  const { id, access_key_id, access_key_secret, created_at, ...same } = key;
  expect(renewed).toEqual({
    ...same,
    id: expect.stringMatching(/^key_/),
    access_key_id: expect.stringMatching(/^atp_stage_/),
    access_key_secret: expect.stringMatching(/^[0-9A-Za-z]{40}$/),
    created_at: old.rotated_at,
  });
  expect([renewed.id, renewed.access_key_id, renewed.access_key_secret]).not.toEqual(
    expect.arrayContaining([expect.stringMatching(`${id}|${access_key_id}|${access_key_secret}`)]),
  );
  expect(old).toEqual({
    ...same,
    id,
    access_key_id,
    created_at,
    rotated_at: old.rotated_at,
    expires_at: old.rotated_at,
  });
  expect([await outcomeOf(service, key), await outcomeOf(service, renewed)]).toEqual([expired, 200]);
});

test('201: a viewer key stays read-only', async () => {
  const { renewed } = await rotated(await makeKey(ada.client, { role: 'viewer', readonly: false }));
  expect(renewed).toMatchObject({ role: 'viewer', readonly: true });
});

test('201: the new key gets the same lifetime as the old one, counted from now', async () => {
  const key = await makeKey(ada.client, { expires_in: '30d' });
  await age(service, key, 20);
  const { renewed } = await rotated(key);
  expect(lengthOf(renewed)).toBe(30 * day);
  expect(Date.parse(renewed.created_at)).toBeGreaterThan(service.clock.now().getTime() - hour);
});

test('201: a key that never expires is replaced by another that never expires', async () => {
  const { renewed } = await rotated(await makeKey(ada.client));
  expect(renewed.expires_at).toBeNull();
});

test('201: an expired key can be rotated, and keeps its expiry', async () => {
  const key = await makeKey(ada.client, { expires_in: '7d' });
  await age(service, key, 8);
  const { expires_at } = await readKey(ada.client, key.id);
  const { old, renewed } = await rotated(key, '48h');
  expect(old.expires_at).toBe(expires_at);
  expect(lengthOf(renewed)).toBe(7 * day);
  expect([await outcomeOf(service, key), await outcomeOf(service, renewed)]).toEqual([expired, 200]);
});

test.each([
  ['1h', hour],
  ['48h', 48 * hour],
  ['90d', 90 * day],
  ['0', 0],
  ['0s', 0],
])('201: with a grace of %s the old secret works that long', async (grace, ms) => {
  const key = await makeKey(ada.client);
  const { old } = await rotated(key, grace);
  expect(Date.parse(old.expires_at ?? '') - Date.parse(old.rotated_at ?? '')).toBe(ms);
  expect(await outcomeOf(service, key)).toBe(ms ? 200 : expired);
});

test('201: the grace period never extends the old key’s expiry', async () => {
  const key = await makeKey(ada.client, { expires_in: '1h' });
  const { old, renewed } = await rotated(key, '48h');
  expect(old.expires_at).toBe(key.expires_at);
  expect(lengthOf(renewed)).toBe(hour);
});

test('201: the new key names the caller who rotated, and keeps the type', async () => {
  const key = await makeKey(ada.client, { role: 'member' });
  await service.db.query(`UPDATE api_keys SET type = 'sim' WHERE id = $1`, [key.id]);
  const bob = await addMember(service, ada, { role: 'admin' });
  const { body } = await rotate(key.id, {}, bob.client);
  expect(body).toMatchObject({ type: 'sim', role: 'member', created_by: bob.userId });
});

test('201: fields other than the grace are ignored', async () => {
  const key = await makeKey(ada.client);
  const { body } = await rotate(key.id, { role: 'admin', readonly: false, type: 'production', expires_in: '1d' });
  expect(body).toMatchObject({ role: 'viewer', readonly: true, type: 'api', expires_at: null });
});

test.each([
  ['', 'must be a duration such as 30m, 48h or 7d, not ""'],
  ['1w', 'must be a duration such as 30m, 48h or 7d, not "1w"'],
  ['-1h', 'must be a duration such as 30m, 48h or 7d, not "-1h"'],
  ['91d', 'must be at most 90d, not "91d"'],
  [0, 'must be text, not 0'],
  [null, 'must be text, not null'],
])('400: a grace of %j, and the key is not rotated', async (grace, detail) => {
  const key = await makeKey(ada.client);
  const { status, problem } = await rotate(key.id, { grace });
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', `body.grace: ${detail}.`]);
  expect(await outcomeOf(service, key)).toBe(200);
});

test('403: a caller without every service cannot rotate a key, which has them all', async () => {
  const key = await makeKey(ada.client, { role: 'admin', readonly: false });
  const reader = withClaims(service, ada, { role: 'admin', svc: { '*': 'r', account: 'w' } });
  expect((await rotate(key.id, {}, reader)).status).toBe(403);
  expect(await outcomeOf(service, key)).toBe(200);
  expect((await rotate((await makeKey(ada.client)).id, {}, reader)).status).toBe(201);
});

test('403: a caller narrowed to groups cannot rotate a wider key', async () => {
  const group = await addGroup(service, ada.accountId);
  const narrow = await makeKey(ada.client, { group_scope: 'selected', groups: [group] });
  const wide = await makeKey(ada.client);
  const as = (groups: object) => withClaims(service, ada, { role: 'admin', groups });
  expect((await rotate(wide.id, {}, as({ [group]: 'a' }))).status).toBe(403);
  expect((await rotate(narrow.id, {}, as({ [group]: 'm' }))).status).toBe(403);
  expect((await rotate(narrow.id, {}, as({ [group]: 'a' }))).status).toBe(201);
  expect(await outcomeOf(service, wide)).toBe(200);
});

test('409: a key that was already rotated, during its grace or afterwards', async () => {
  for (const grace of ['48h', '0']) {
    const key = await makeKey(ada.client);
    const { old } = await rotated(key, grace);
    const { status, problem } = await rotate(key.id, { grace: '90d' });
    expect([status, problem?.kind, problem?.detail]).toEqual([409, 'conflict', 'This API key was rotated already.']);
    expect(await readKey(ada.client, key.id)).toEqual(old);
  }
});

test('409: a key that is revoked', async () => {
  const key = await makeKey(ada.client);
  await ada.client.call(deleteApiKey, { params: { id: key.id } });
  const before = await count(service, 'api_keys');
  const { status, problem } = await rotate(key.id);
  expect([status, problem?.kind, problem?.detail]).toEqual([409, 'conflict', 'This API key is revoked.']);
  expect(await count(service, 'api_keys')).toBe(before);
});

test('409: no rotation makes more live keys than the 1,000 of an account, however many are rotated at once; one that replaces a key is always possible', async () => {
  const owner = await join(service);
  const keys: Key[] = [];
  for (let n = 0; n < 6; n++) keys.push(await makeKey(owner.client));
  const [spent] = [await makeKey(owner.client, { expires_in: '1m' })];
  service.clock.advance({ minutes: 2 });
  await fillKeys(service, owner.accountId, 992, 0);
  const graceful = await Promise.all(keys.map(({ id }) => rotate(id, { grace: '1h' }, owner.client)));
  expect(statusesOf(graceful)).toEqual({ 201: 2, 409: 4 });
  expect(graceful.find(({ status }) => status === 409)?.problem?.detail).toBe('An account has at most 1000 live keys.');
  const left = keys[graceful.findIndex(({ status }) => status === 409)];
  expect((await rotate(left?.id ?? '', undefined, owner.client)).status).toBe(201);
  expect((await rotate(spent.id, undefined, owner.client)).status).toBe(409);
  const revived = await owner.client.call(updateApiKey, { params: { id: spent.id }, body: { expires_at: null } });
  expect([revived.status, revived.problem?.kind]).toEqual([422, 'unprocessable']);
});

test('20 rotations at once: one creates a key, the others are 409', async () => {
  const key = await makeKey(ada.client);
  const before = await count(service, 'api_keys');
  expect(statusesOf(await atOnce(() => rotate(key.id)))).toEqual({ 201: 1, 409: 19 });
  expect(await count(service, 'api_keys')).toBe(before + 1);
});

test('rotations and deletions at once: a deleted key is never rotated afterwards', async () => {
  const key = await makeKey(ada.client);
  const answers = await atOnce<{ status: number }>((i) =>
    i % 2 ? rotate(key.id, { grace: '1h' }) : ada.client.call(deleteApiKey, { params: { id: key.id } }),
  );
  const { 201: made = 0, ...others } = statusesOf(answers);
  expect(made).toBeLessThanOrEqual(1);
  expect(others).toEqual({ 204: 10, 409: 10 - made });
  const { rotated_at, revoked_at } = await readKey(ada.client, key.id);
  expect(rotated_at !== null).toBe(made === 1);
  expect(revoked_at).not.toBeNull();
});
