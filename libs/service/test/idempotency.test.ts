import { newId } from '@attribution/ids';
import { eventually, keyToken, personToken } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { json, problemOf, send } from './support.ts';
import { account, startKeyedService } from './support-idempotency.ts';

let service: Awaited<ReturnType<typeof startKeyedService>>;
beforeAll(async () => {
  service = await startKeyedService();
});
beforeEach(() => service.empty());
afterAll(() => service.stop());

const otherRequest = { status: 409, kind: 'conflict', detail: 'Idempotency-Key: was used for another request.' };

test('201: the same request under the same key is done once, and the response repeated byte for byte', async () => {
  const first = await service.post();
  const again = await service.post();
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect((await service.post({ sent: '{ "size": 1, "name": "one", "unknown": true }' })).text).toBe(first.text);
  expect(await service.countOf('things')).toBe(1);
});

test('201: a repetition may use another token of the same person; an API key repeats only its own', async () => {
  const sub = newId('user');
  const first = await service.post({ token: personToken({ account, sub }) });
  expect((await service.post({ token: personToken({ account, sub, role: 'admin' }) })).text).toBe(first.text);
  const machine = keyToken({ account, role: 'member', key: { type: 'api', readonly: false } });
  const made = await service.post({ token: machine, key: 'of-the-key' });
  expect((await service.post({ token: machine, key: 'of-the-key' })).text).toBe(made.text);
  expect(await service.countOf('things')).toBe(2);
});

test('201: without a key, every request is done', async () => {
  const headers = { ...json, authorization: `Bearer ${personToken({ account })}` };
  for (let i = 0; i < 2; i++)
    await send(service.port, '/v2/things', { method: 'POST', headers, body: '{"name":"one"}' });
  expect([await service.countOf('things'), await service.countOf('idempotency_keys')]).toEqual([2, 0]);
});

test('204: a response without a body is repeated as well', async () => {
  for (let i = 0; i < 2; i++)
    expect(await service.post({ path: '/v2/quiet' })).toMatchObject({ status: 204, text: '' });
  expect(await service.countOf('things')).toBe(1);
});

test('409: the same key for another body, another resource, or from another user of the account', async () => {
  const id = newId('campaign');
  await service.post();
  await service.post({ path: `/v2/things/${id}/copies` });
  for (const answer of [
    await service.post({ sent: '{"name":"two"}' }),
    await service.post({ sent: '{"name":"one","size":2}' }),
    await service.post({ token: personToken({ account }) }),
    await service.post({ path: `/v2/things/${newId('campaign')}/copies` }),
  ])
    expect(problemOf(answer)).toMatchObject(otherRequest);
  expect(await service.countOf('things')).toBe(2);
});

test('201: a key belongs to one account and one endpoint', async () => {
  await service.post();
  expect((await service.post({ token: personToken() })).status).toBe(201);
  expect((await service.post({ path: `/v2/things/${newId('campaign')}/copies` })).status).toBe(201);
  expect(await service.countOf('things')).toBe(3);
});

test('409: a response with a secret is not stored: a repetition names what was made', async () => {
  const { id } = JSON.parse((await service.post({ path: '/v2/secrets' })).text);
  expect(problemOf(await service.post({ path: '/v2/secrets' }))).toMatchObject({
    status: 409,
    detail: `Idempotency-Key: this request was done, and made ${id}. Its answer held a secret, which is shown once.`,
  });
  expect(problemOf(await service.post({ path: '/v2/secrets', sent: '{"name":"two"}' }))).toMatchObject(otherRequest);
  const { rows } = await service.pool.query('SELECT answer, resource_id FROM idempotency_keys');
  expect(rows).toEqual([{ answer: null, resource_id: id }]);
  expect(await service.countOf('things')).toBe(1);
});

test('20 concurrent identical requests have one effect, and all get the same response', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.post()));
  for (const { status, text } of answers) expect([status, text]).toEqual([201, answers[0]?.text]);
  expect(await service.countOf('things')).toBe(1);
});

test('20 concurrent different requests under one key: one is done, the others are 409', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => service.post({ sent: `{"name":"${i}"}` })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
  expect(await service.countOf('things')).toBe(1);
});

test('a key is free again after 24 h, and not before', async () => {
  const first = await service.post();
  service.clock.advance({ minutes: 24 * 60 - 1 });
  expect((await service.post()).text).toBe(first.text);
  service.clock.advance({ minutes: 1 });
  const anew = await service.post();
  expect(anew.status).toBe(201);
  expect(anew.text).not.toBe(first.text);
  expect((await service.post()).text).toBe(anew.text);
  service.clock.advance({ days: 1 });
  expect((await service.post({ sent: '{"name":"two"}' })).status).toBe(201);
  expect([await service.countOf('things'), await service.countOf('idempotency_keys')]).toEqual([3, 1]);
});

test('20 concurrent requests under an expired key have one effect', async () => {
  const first = await service.post();
  service.clock.advance({ days: 1 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.post()));
  for (const { status, text } of answers) expect([status, text]).toEqual([201, answers[0]?.text]);
  expect(answers[0]?.text).not.toBe(first.text);
  expect(await service.countOf('things')).toBe(2);
});

test('a job purges expired keys, and no others', async () => {
  await service.post({ key: 'old' });
  service.clock.advance({ minutes: 24 * 60 - 1 });
  await service.post({ key: 'young' });
  service.clock.advance({ minutes: 1 });
  await eventually(async () => {
    service.wake('purge-idempotency-keys');
    expect((await service.pool.query('SELECT key FROM idempotency_keys')).rows).toEqual([{ key: 'young' }]);
  });
});

test.each(['', ' ', 'two words', 'a\tb', 'ä', 'x'.repeat(256), ['a', 'b']])('400: a key of %j', async (key) => {
  expect(problemOf(await service.post({ key }))).toMatchObject({
    status: 400,
    kind: 'validation-error',
    detail: 'Idempotency-Key: must be 1 to 255 visible ASCII characters.',
  });
  expect(await service.countOf('things')).toBe(0);
});

test.each(['!', '~', 'x'.repeat(255), '01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f', '"quoted"'])(
  '201: a key of %j',
  async (key) => {
    const first = await service.post({ key });
    expect(first.status).toBe(201);
    expect((await service.post({ key })).text).toBe(first.text);
  },
);

test('a request that is refused with 401, 403 or 400 learns nothing about a key', async () => {
  await service.post();
  expect((await service.post({ token: 'opaque' })).status).toBe(401);
  expect((await service.post({ token: keyToken({ account }) })).status).toBe(403);
  expect((await service.post({ sent: '{"name":1}' })).status).toBe(400);
});

test('201: endpoints that accept no key ignore the header, whatever its value', async () => {
  for (const key of ['a-key', 'a-key', 'two words'])
    expect((await service.post({ path: '/v2/plain', key })).status).toBe(201);
  expect([await service.countOf('things'), await service.countOf('idempotency_keys')]).toEqual([3, 0]);
});
