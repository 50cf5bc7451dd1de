import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { implement } from '../src/index.ts';
import { type App, declare, startApp } from './support.ts';

interface Context {
  readonly id: string;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly traceparent: string;
}

let app: App;
beforeAll(async () => {
  const look = declare({
    method: 'GET',
    path: '/v2/look',
    success: { status: 200, description: '', body: z.looseObject({}) },
  });
  app = await startApp([implement(look, async ({ request }) => ({ ...request, traceparent: request.traceparent }))]);
});
afterAll(() => app.stop());

async function look(headers: Record<string, string | string[]> = {}) {
  const answer = await app.send('/v2/look', { headers });
  return { context: JSON.parse(answer.text) as Context, header: answer.headers['x-request-id'] };
}

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('the request id', () => {
  test('is the same in the response, for the handler and in the log: the caller’s, if it is a plain one', async () => {
    for (const given of ['12345678', 'a-b_c.D-9', 'x'.repeat(128)]) {
      const { context, header } = await look({ 'x-request-id': given });
      expect([context.id, header]).toEqual([given, given]);
      expect(app.logs.text()).toContain(`"request_id":"${given}"`);
    }
  });

  test('is generated if none is given, a new one each time', async () => {
    const [one, other] = [await look(), await look()];
    expect(one.context.id).toMatch(uuidV7);
    expect(one.header).toBe(one.context.id);
    expect(other.context.id).not.toBe(one.context.id);
  });

  test.each([
    '',
    'short',
    'x'.repeat(129),
    'with a space',
    'line\tbreak',
    '"quoted-id"',
    '<script>alert</script>',
    'üüüüüüüü',
    'id,id,id,id',
  ])('%j is not a plain one, and replaced', async (given) => {
    const { context, header } = await look({ 'x-request-id': given });
    expect(context.id).toMatch(uuidV7);
    expect(header).toBe(context.id);
  });

  test('given twice is replaced', async () => {
    expect((await look({ 'x-request-id': ['first-of-two', 'second-of-two'] })).context.id).toMatch(uuidV7);
  });

  test('is in responses of every kind', async () => {
    for (const [path, status] of [
      ['/v2/nothing', 404],
      ['/%', 404],
      ['/v2/look', 200],
    ] as const) {
      const answer = await app.send(path, { headers: { 'x-request-id': 'one-of-mine' } });
      expect([answer.status, answer.headers['x-request-id']]).toEqual([status, 'one-of-mine']);
    }
  });
});

describe('the trace context', () => {
  const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  test('is the caller’s if it is valid', async () => {
    expect((await look({ traceparent: good })).context.traceparent).toBe(good);
  });

  test.each([
    ['none', undefined],
    ['another version', good.replace('00-', '01-')],
    ['upper case', good.toUpperCase()],
    ['a trace of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['a span of zeros', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
    ['something after it', `${good}-extra`],
    ['no flags', good.slice(0, -3)],
  ])('%s begins a new one', async (_what, traceparent) => {
    const { context } = await look(traceparent === undefined ? {} : { traceparent });
    expect(context.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(context.traceparent.toLowerCase()).not.toContain('0af7651916cd43dd8448eb211c80319c-b7ad');
  });
});

test('the client’s address is the one that the gateway sends, else the connection’s', async () => {
  expect((await look({ 'x-forwarded-for': '2001:db8::1' })).context.ip).toBe('2001:db8::1');
  expect((await look({ 'x-forwarded-for': '203.0.113.9, 10.0.0.1' })).context.ip).toBe('203.0.113.9');
  expect((await look()).context.ip).toBe('127.0.0.1');
  expect((await look({ 'x-forwarded-for': '' })).context.ip).toBe('127.0.0.1');
});

test('the user agent is cut to 300 characters, and null if there is none', async () => {
  expect((await look({ 'user-agent': 'x'.repeat(400) })).context.userAgent).toBe('x'.repeat(300));
  expect((await look()).context.userAgent).toBeNull();
});
