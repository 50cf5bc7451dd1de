import { createApiKey, listApiKeys, rotateApiKey } from '@attribution/contracts';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, count, enter, join, type Person, rows, startAccountService, statusesOf } from './support.ts';
import { makeKey, outcomeOf } from './support-keys.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

let used = 0;
const newKey = () => `repeat-${used++}`;

const create = (idempotencyKey: string, body: object = { name: 'Export' }, client = ada.client) =>
  client.call(createApiKey, { headers: { 'idempotency-key': idempotencyKey }, body: body as never });
const rotate = (idempotencyKey: string, id: string, body: object = {}) =>
  ada.client.call(rotateApiKey, { headers: { 'idempotency-key': idempotencyKey }, params: { id }, body });

const keyIds = async () => (await ada.client.call(listApiKeys)).body.map(({ id }) => id);
const wasDone = (id: string) =>
  `Idempotency-Key: this request was done, and made ${id}. Its answer held a secret, which is shown once.`;
const otherRequest = 'Idempotency-Key: was used for another request.';

test('409: a repeated creation creates nothing, and names the key that was created', async () => {
  const repeated = newKey();
  const { status, body } = await create(repeated);
  expect(status).toBe(201);
  const ids = await keyIds();
  for (const answer of [await create(repeated), await create(repeated, { name: ' Export ' })])
    expect([answer.status, answer.problem?.kind, answer.problem?.detail]).toEqual([409, 'conflict', wasDone(body.id)]);
  expect(await keyIds()).toEqual(ids);
});

test('409: a repeated rotation creates nothing, and names the new key', async () => {
  const repeated = newKey();
  const key = await makeKey(ada.client);
  const { body: renewed } = await rotate(repeated, key.id, { grace: '1h' });
  const { status, problem } = await rotate(repeated, key.id, { grace: '1h' });
  expect([status, problem?.detail]).toEqual([409, wasDone(renewed.id)]);
  expect(await outcomeOf(service, renewed)).toBe(200);
});

test('409: the same Idempotency-Key for another body, another key or by another person', async () => {
  const repeated = newKey();
  await create(repeated);
  const bob = service.client.with({ token: personToken({ account: ada.accountId, role: 'admin' }) });
  for (const answer of [await create(repeated, { name: 'Import' }), await create(repeated, undefined, bob)])
    expect([answer.status, answer.problem?.detail]).toEqual([409, otherRequest]);

  const [first, second] = [await makeKey(ada.client), await makeKey(ada.client)];
  const rotation = newKey();
  await rotate(rotation, first.id);
  for (const answer of [await rotate(rotation, second.id), await rotate(rotation, first.id, { grace: '1h' })])
    expect([answer.status, answer.problem?.detail]).toEqual([409, otherRequest]);
  expect(await outcomeOf(service, second)).toBe(200);
});

test('201: an Idempotency-Key belongs to one account and one endpoint', async () => {
  const shared = newKey();
  const { body } = await create(shared);
  expect((await create(shared, undefined, (await join(service)).client)).status).toBe(201);
  expect((await rotate(shared, body.id)).status).toBe(201);
});

test('201: a refused request may be repeated under its key', async () => {
  const repeated = newKey();
  for (const body of [{ name: '' }, { name: 'x', type: 'sim' }])
    expect((await create(repeated, body)).status).toBeGreaterThanOrEqual(400);
  expect((await create(repeated)).status).toBe(201);

  const rotation = newKey();
  const key = await makeKey(ada.client);
  await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key.id]);
  expect((await rotate(rotation, key.id)).problem?.detail).toBe('This API key is revoked.');
  await service.db.query('UPDATE api_keys SET revoked_at = NULL WHERE id = $1', [key.id]);
  expect((await rotate(rotation, key.id)).status).toBe(201);
});

test('20 creations at once under one key: one creates a key, the others are 409 and name it', async () => {
  const repeated = newKey();
  const before = await count(service, 'api_keys');
  const answers = await atOnce(() => create(repeated));
  expect(statusesOf(answers)).toEqual({ 201: 1, 409: 19 });
  const [made] = await keyIds();
  for (const { problem } of answers) if (problem) expect(problem.detail).toBe(wasDone(made ?? ''));
  expect(await count(service, 'api_keys')).toBe(before + 1);
});

test('20 rotations at once under one key: one creates a key, the others are 409 and name it', async () => {
  const repeated = newKey();
  const key = await makeKey(ada.client);
  const answers = await atOnce(() => rotate(repeated, key.id));
  expect(statusesOf(answers)).toEqual({ 201: 1, 409: 19 });
  const [made] = await keyIds();
  for (const { problem } of answers) if (problem) expect(problem.detail).toBe(wasDone(made ?? ''));
});

test('no response with a secret is stored', async () => {
  const repeated = newKey();
  const { body } = await create(repeated);
  const [kept] = await rows<{ answer: unknown; resource_id: string }>(
    service,
    'SELECT * FROM idempotency_keys WHERE key = $1',
    repeated,
  );
  expect(kept).toMatchObject({ answer: null, resource_id: body.id });
  expect(JSON.stringify(kept)).not.toContain(body.access_key_secret);
});

test.each(['', 'two words', 'ä', 'x'.repeat(256)])('400: an Idempotency-Key of %j', async (repeated) => {
  const before = await count(service, 'api_keys');
  const response = await fetch(`${service.url}/v2/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ada.session.access_token}`,
      'content-type': 'application/json',
      'idempotency-key': repeated,
    },
    body: '{"name":"x"}',
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('Idempotency-Key: must be 1 to 255 visible ASCII characters.');
  expect(await count(service, 'api_keys')).toBe(before);
});

test('201: an Idempotency-Key can be reused after a day', async () => {
  const repeated = newKey();
  await create(repeated);
  service.clock.advance({ days: 1 });
  const { access_token: token } = await enter(service, ada.email);
  const { status } = await create(repeated, undefined, service.client.with({ token }));
  expect(status).toBe(201);
});
