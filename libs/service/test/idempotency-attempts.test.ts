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

test('201: a repetition is answered byte for byte, and nobody is asked again', async () => {
  const first = await post();
  expect(first.status).toBe(201);
  expect((await post({ sent: '{ "size": 1, "name": "one", "unknown": true }' })).text).toBe(first.text);
  expect([service.asked().length, service.made()]).toEqual([1, 1]);
});

test('201: an attempt is a UUIDv7, and another one for another key, endpoint or account, and without a key', async () => {
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

test('204: an answer without a body is given again as well', async () => {
  for (let i = 0; i < 2; i++) expect(await post({ path: '/v2/quiet-orders' })).toMatchObject({ status: 204, text: '' });
  expect(service.asked().length).toBe(1);
});

test.each<[number, () => never]>([
  [503, fault],
  [502, problem('upstream-error')],
])(
  '%d: what failed on the way is asked again in the name of the same attempt, and done once',
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

test('409: a refusal is not kept: what comes after it is another attempt', async () => {
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

test('409: another request under the key, whether the first one is done, failed, or under way', async () => {
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

test('409: an answer with a secret is not kept: its repetition names what was made', async () => {
  const secret = '/v2/secret-orders';
  const { id } = JSON.parse((await post({ path: secret })).text) as { id: string };
  const detail = `Idempotency-Key: this request was done, and made ${id}. Its answer held a secret, which is shown once.`;
  expect(problemOf(await post({ path: secret }))).toMatchObject({ status: 409, detail });
  expect(problemOf(await post({ path: secret, sent: '{"name":"two"}' }))).toMatchObject(otherRequest);
  expect(await kept()).toMatchObject([{ answer: {}, resource_id: id }]);
});

test('201: a secret that nobody has seen, as its answer failed, is given to the repetition', async () => {
  service.around({ after: fault });
  await post({ path: '/v2/secret-orders' });
  service.around({});
  expect((await post({ path: '/v2/secret-orders' })).status).toBe(201);
  expect(service.made()).toBe(1);
});

test('20 of the same at once are one attempt, and all answer the same', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => post()));
  for (const { status, text } of answers) expect([status, text]).toEqual([201, answers[0]?.text]);
  expect([new Set(service.asked()).size, service.made(), (await kept()).length]).toEqual([1, 1, 1]);
});

test('20 different ones under one key at once: one is done, the others are 409', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => post({ sent: `{"name":"${i}"}` })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
  expect(service.made()).toBe(1);
});

test('one that is refused does not undo the key of another that is done under it', async () => {
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

test('a key is free again after 24 h, and not before, whether it was done or not', async () => {
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

test('20 at once under a key whose time is over are one attempt', async () => {
  await post();
  service.clock.advance({ days: 1 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => post()));
  for (const { status, text } of answers) expect([status, text]).toEqual([201, answers[0]?.text]);
  expect(service.made()).toBe(2);
});

test('one that ends after the time of its key is over leaves the key to whoever has it now', async () => {
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

test('503: where the attempt cannot be written down, nobody is asked', async () => {
  await service.pool.query('ALTER TABLE idempotency_keys RENAME TO keys_away');
  expect((await post()).status).toBe(503);
  await service.pool.query('ALTER TABLE keys_away RENAME TO idempotency_keys');
  expect(service.asked()).toEqual([]);
  expect((await post()).status).toBe(201);
});

test('503: where the answer cannot be kept, a repetition is the same attempt', async () => {
  service.around({ after: () => service.pool.query('ALTER TABLE idempotency_keys RENAME TO keys_away') });
  expect((await post()).status).toBe(503);
  await service.pool.query('ALTER TABLE keys_away RENAME TO idempotency_keys');
  service.around({});
  expect((await post()).status).toBe(201);
  expect([new Set(service.asked()).size, service.made()]).toEqual([1, 1]);
});

test('who is refused at the door names no attempt: 400, 401 and 403 come first', async () => {
  expect((await post({ token: 'opaque' })).status).toBe(401);
  expect((await post({ token: keyToken({ account }) })).status).toBe(403);
  expect((await post({ sent: '{"name":1}' })).status).toBe(400);
  expect((await post({ key: 'two words' })).status).toBe(400);
  expect([await kept(), service.asked()]).toEqual([[], []]);
});

test('a job forgets attempts whose time is over, done or not', async () => {
  service.around({ before: fault });
  await post({ key: newId('job') });
  service.clock.advance({ days: 1 });
  for (let i = 0; i < 100 && (await kept()).length > 0; i++) {
    service.wake('purge-idempotency-keys');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(await kept()).toEqual([]);
});

test('one that is refused while another is at work under the key leaves it its key', async () => {
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
