import { Problem } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { json, problemOf, send } from './support.ts';
import { account, startKeyedService } from './support-idempotency.ts';

let service: Awaited<ReturnType<typeof startKeyedService>>;
beforeAll(async () => {
  service = await startKeyedService();
});
beforeEach(() => service.empty());
afterAll(() => service.stop());

const path = '/v2/orders';
const post = (over: NonNullable<Parameters<typeof service.post>[0]> = {}) => service.post({ path, ...over });
const kept = async () => (await service.pool.query('SELECT * FROM idempotency_keys')).rows;
const otherRequest = { status: 409, kind: 'conflict', detail: 'Idempotency-Key: was used for another request.' };
const fault = () => {
  throw new Error('Gone');
};
const problem = (kind: 'conflict' | 'upstream-error') => () => {
  throw new Problem(kind, 'No.');
};

test('201: a repetition gets the same response byte for byte, without another call', async () => {
  const first = await post();
  expect(first.status).toBe(201);
  expect((await post({ sent: '{ "size": 1, "name": "one", "unknown": true }' })).text).toBe(first.text);
  expect([service.asked().length, service.made()]).toEqual([1, 1]);
});

test('201: an attempt is a UUIDv7, a different one for each key, endpoint and account, and for each request without a key', async () => {
  await post();
  await post({ key: 'other' });
  await post({ path: '/v2/secret-orders' });
  await post({ token: personToken() });
  const headers = { ...json, authorization: `Bearer ${personToken({ account })}` };
  for (let i = 0; i < 2; i++) await send(service.port, path, { method: 'POST', headers, body: '{"name":"one"}' });
  expect(new Set(service.asked()).size).toBe(6);
  for (const attempt of service.asked()) expect(attempt).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
  expect((await kept()).length).toBe(4);
});

test('204: a response without a body is repeated as well', async () => {
  for (let i = 0; i < 2; i++) expect(await post({ path: '/v2/quiet-orders' })).toMatchObject({ status: 204, text: '' });
  expect(service.asked().length).toBe(1);
});

test.each<[number, () => never]>([
  [503, fault],
  [502, problem('upstream-error')],
])(
  '%d: after a failed call a repetition calls again with the same attempt, and the effect happens once',
  async (status, failure) => {
    service.around({ after: failure });
    for (let i = 0; i < 3; i++) expect((await post()).status).toBe(status);
    service.around({});
    const done = await post();
    expect([done.status, service.made(), service.asked().length]).toEqual([201, 1, 4]);
    expect(new Set(service.asked()).size).toBe(1);
    expect((await post()).text).toBe(done.text);
    expect(service.asked().length).toBe(4);
  },
);

test('409: a refusal is not stored: the next request is a new attempt', async () => {
  service.around({ before: problem('conflict') });
  expect(problemOf(await post())).toMatchObject({ status: 409, detail: 'No.' });
  expect(await kept()).toEqual([]);
  service.around({});
  expect((await post({ sent: '{"name":"two"}' })).status).toBe(201);
  expect(new Set(service.asked()).size).toBe(2);
});

test('409: a refusal after a failure ends the attempt as well', async () => {
  service.around({ before: fault });
  await post();
  service.around({ before: problem('conflict') });
  await post();
  service.around({});
  await post();
  const [first, second, third] = service.asked();
  expect([second, third === first]).toEqual([first, false]);
});

test('409: another request under the key, whether the first is done, has failed, or is in progress', async () => {
  const others = async () => {
    for (const over of [{ sent: '{"name":"two"}' }, { token: personToken({ account }) }])
      expect(problemOf(await post(over))).toMatchObject(otherRequest);
  };
  const [inside, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.around({
    async before() {
      inside.resolve();
      await go.promise;
      fault();
    },
  });
  const first = post();
  await inside.promise;
  await others();
  go.resolve();
  expect((await first).status).toBe(503);
  await others();
  service.around({});
  await post();
  await others();
  expect(new Set(service.asked()).size).toBe(1);
});

test('409: a response with a secret is not stored: a repetition names what was made', async () => {
  const secret = '/v2/secret-orders';
  const { id } = JSON.parse((await post({ path: secret })).text) as { id: string };
  const detail = `Idempotency-Key: this request was done, and made ${id}. Its answer held a secret, which is shown once.`;
  expect(problemOf(await post({ path: secret }))).toMatchObject({ status: 409, detail });
  expect(problemOf(await post({ path: secret, sent: '{"name":"two"}' }))).toMatchObject(otherRequest);
  expect(await kept()).toMatchObject([{ answer: {}, resource_id: id }]);
});

test('201: a secret whose first response failed is sent to the repetition', async () => {
  service.around({ after: fault });
  await post({ path: '/v2/secret-orders' });
  service.around({});
  expect((await post({ path: '/v2/secret-orders' })).status).toBe(201);
  expect(service.made()).toBe(1);
});

test('20 concurrent identical requests are one attempt, and all get the same response', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => post()));
  for (const { status, text } of answers) expect([status, text]).toEqual([201, answers[0]?.text]);
  expect([new Set(service.asked()).size, service.made(), (await kept()).length]).toEqual([1, 1, 1]);
});

test('20 concurrent different requests under one key: one is done, the others are 409', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => post({ sent: `{"name":"${i}"}` })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
  expect(service.made()).toBe(1);
});

test('a refused request does not delete the key of another request that was done under it', async () => {
  let calls = 0;
  const [second, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.around({
    async before() {
      if (++calls !== 2) return;
      second.resolve();
      await go.promise;
      problem('conflict')();
    },
    async after() {
      if (calls === 1) await second.promise;
    },
  });
  const done = post();
  const refused = post();
  await second.promise;
  const first = await Promise.race([done, refused]);
  go.resolve();
  expect((await Promise.all([done, refused])).map(({ status }) => status).sort()).toEqual([201, 409]);
  expect((await post()).text).toBe(first.text);
  expect(service.made()).toBe(1);
});

test('a key is free again after 24 h, and not before, whether its request was done or not', async () => {
  service.around({ before: fault });
  await post();
  service.clock.advance({ minutes: 24 * 60 - 1 });
  await post();
  service.clock.advance({ minutes: 1 });
  service.around({});
  const first = await post();
  expect((await post()).text).toBe(first.text);
  service.clock.advance({ days: 1 });
  expect((await post({ sent: '{"name":"two"}' })).status).toBe(201);
  const [one, two, three, four, ...more] = service.asked();
  expect([two, more]).toEqual([one, []]);
  expect(new Set([one, three, four]).size).toBe(3);
  expect((await kept()).length).toBe(1);
});

test('20 concurrent requests under an expired key are one attempt', async () => {
  await post();
  service.clock.advance({ days: 1 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => post()));
  for (const { status, text } of answers) expect([status, text]).toEqual([201, answers[0]?.text]);
  expect(service.made()).toBe(2);
});

test('a request that ends after its key expired does not overwrite the key’s new request', async () => {
  const [inside, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.around({
    async before() {
      inside.resolve();
      await go.promise;
    },
  });
  const late = post();
  await inside.promise;
  service.clock.advance({ days: 1 });
  service.around({});
  const anew = await post();
  go.resolve();
  expect((await late).status).toBe(201);
  expect((await late).text).not.toBe(anew.text);
  expect((await post()).text).toBe(anew.text);
});

test('503: if the attempt cannot be stored, no call is made', async () => {
  await service.pool.query('ALTER TABLE idempotency_keys RENAME TO keys_away');
  expect((await post()).status).toBe(503);
  await service.pool.query('ALTER TABLE keys_away RENAME TO idempotency_keys');
  expect(service.asked()).toEqual([]);
  expect((await post()).status).toBe(201);
});

test('503: if the response cannot be stored, a repetition is the same attempt', async () => {
  service.around({ after: () => service.pool.query('ALTER TABLE idempotency_keys RENAME TO keys_away') });
  expect((await post()).status).toBe(503);
  await service.pool.query('ALTER TABLE keys_away RENAME TO idempotency_keys');
  service.around({});
  expect((await post()).status).toBe(201);
  expect([new Set(service.asked()).size, service.made()]).toEqual([1, 1]);
});

test('a request that is refused with 400, 401 or 403 begins no attempt', async () => {
  expect((await post({ token: 'opaque' })).status).toBe(401);
  expect((await post({ token: keyToken({ account }) })).status).toBe(403);
  expect((await post({ sent: '{"name":1}' })).status).toBe(400);
  expect((await post({ key: 'two words' })).status).toBe(400);
  expect([await kept(), service.asked()]).toEqual([[], []]);
});

test('a job purges expired attempts, done or not', async () => {
  service.around({ before: fault });
  await post({ key: newId('job') });
  service.clock.advance({ days: 1 });
  for (let i = 0; i < 100 && (await kept()).length > 0; i++) {
    service.wake('purge-idempotency-keys');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(await kept()).toEqual([]);
});

test('a refused request does not delete the key of another that is in progress', async () => {
  const [inside, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.around({
    async before() {
      inside.resolve();
      await go.promise;
    },
  });
  const slow = post();
  await inside.promise;
  service.around({ before: problem('conflict') });
  expect((await post()).status).toBe(409);
  service.around({});
  go.resolve();
  const { text } = await slow;
  expect((await post()).text).toBe(text);
});
