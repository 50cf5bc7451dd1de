import { personToken } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { problemOf } from './support.ts';
import { account, startKeyedService } from './support-idempotency.ts';

let service: Awaited<ReturnType<typeof startKeyedService>>;
beforeAll(async () => {
  service = await startKeyedService();
});
beforeEach(() => service.empty());
afterAll(() => service.stop());

const post = (over: NonNullable<Parameters<typeof service.post>[0]> = {}) =>
  service.post({ path: '/v2/loads', media: 'text/csv', sent: 'a,b\n', ...over });

test('201: the same file under one key is handled once, and the response repeated byte for byte', async () => {
  const first = await post();
  expect(first.status).toBe(201);
  expect(JSON.parse(first.text)).toMatchObject({ name: 'a,b\n', size: 4 });
  expect((await post({ media: 'text/csv; charset=utf-8' })).text).toBe(first.text);
  expect(await service.countOf('things')).toBe(1);
});

test('10 concurrent identical uploads are handled once', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => post()));
  for (const { status, text } of answers) expect([status, text]).toEqual([201, answers[0]?.text]);
  expect(await service.countOf('things')).toBe(1);
});

test('409: another file under the key, the same file with another media type, and the same file from another person', async () => {
  await post();
  for (const over of [{ sent: 'a,c\n' }, { media: 'application/x-ndjson' }, { token: personToken({ account }) }]) {
    const refused = problemOf(await post(over));
    expect(refused).toMatchObject({ status: 409, detail: 'Idempotency-Key: was used for another request.' });
  }
  expect(await service.countOf('things')).toBe(1);
});

test('400: a file that is refused leaves the key free', async () => {
  expect((await post({ sent: 'x'.repeat(1001) })).status).toBe(400);
  expect((await post()).status).toBe(201);
});
