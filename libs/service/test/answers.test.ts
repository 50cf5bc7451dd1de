import { Problem, type ProblemKind, problemKinds } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { implement } from '../src/index.ts';
import { type App, declare, problemOf, startApp, thingId } from './support.ts';

const Thing = z.object({ id: z.string(), size: z.int().nullable() });

/** What the handler does next. */
let next: () => unknown;
beforeEach(() => {
  next = () => ({ id: 'a', size: 1 });
});
const things = [
  implement(
    declare({
      operation: 'get_thing',
      method: 'GET',
      path: '/v2/things',
      success: { status: 200, description: '', body: Thing },
    }),
    async () => next() as never,
  ),
  implement(
    declare({
      operation: 'make_thing',
      method: 'POST',
      path: '/v2/things',
      success: { status: 201, description: '', body: Thing },
    }),
    async () => next() as never,
  ),
  implement(
    declare({ operation: 'start_thing', method: 'PUT', path: '/v2/things', success: { status: 202, description: '' } }),
    async () => next() as never,
  ),
  implement(
    declare({ operation: 'drop_thing', method: 'DELETE', path: '/v2/things/{id}', params: thingId }),
    async () => next() as never,
  ),
];

let app: App;
let inProduction: App;
beforeAll(async () => {
  app = await startApp(things);
  inProduction = await startApp(things, { checkAnswers: false });
});
afterAll(() => Promise.all([app.stop(), inProduction.stop()]));

const unavailable = {
  status: 503,
  kind: 'unavailable',
  detail: 'The service could not answer for now. Try again.',
  media: 'application/problem+json',
};

describe('a success', () => {
  test.each([
    ['GET', 200],
    ['POST', 201],
  ])('of %s has status %i, a JSON body with its length, and must not be cached', async (method, status) => {
    const answer = await app.send('/v2/things', { method });
    expect(answer).toMatchObject({
      status,
      text: '{"id":"a","size":1}',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': '19',
        'cache-control': 'no-store',
      },
    });
    for (const name of ['etag', 'x-powered-by']) expect(answer.headers[name]).toBeUndefined();
  });

  test('has no body if its contract has none, whatever the handler returns', async () => {
    for (const [method, path, status] of [
      ['PUT', '/v2/things', 202],
      ['DELETE', `/v2/things/${newId('campaign')}`, 204],
    ] as const) {
      const { headers, ...answer } = await app.send(path, { method });
      expect(answer).toEqual({ status, text: '' });
      expect(headers['content-type']).toBeUndefined();
    }
  });

  test('to HEAD has the headers of GET, and no body', async () => {
    const [get, head] = await Promise.all([app.send('/v2/things'), app.send('/v2/things', { method: 'HEAD' })]);
    const relevant = ({ status, headers }: typeof get) => [
      status,
      headers['content-type'],
      headers['content-length'],
      headers['cache-control'],
    ];
    expect(relevant(head)).toEqual(relevant(get));
    expect(head.text).toBe('');
  });
});

describe('404: the same bytes for', () => {
  const bytes = async (method: string, path: string) => {
    const { status, headers, text } = await app.send(path, { method });
    return { status, text, media: headers['content-type'], allow: headers.allow };
  };

  test.each([
    ['GET', '/v2/other'],
    ['GET', '/v2/things/'],
    ['GET', '/v2//things'],
    ['GET', '/V2/things'],
    ['GET', '/v2/Things'],
    ['GET', '/v2/%74hings'],
    ['GET', '/v2/x/../things'],
    ['GET', '/v1/things'],
    ['GET', '/'],
    ['PATCH', '/v2/things'],
    ['OPTIONS', '/v2/things'],
    ['TRACE', '/v2/things'],
    ['PROPFIND', '/v2/things'],
    ['GET', `/v2/things/${newId('campaign')}`],
    ['DELETE', '/v2/things/nothing'],
    ['GET', '/v2/things/%zz'],
    ['GET', '/%'],
  ])('%s %s', async (method, path) => {
    next = () => {
      throw Problem.notFound();
    };
    const missing = await bytes('DELETE', `/v2/things/${newId('campaign')}`);
    expect(missing).toMatchObject({ status: 404, media: 'application/problem+json', allow: undefined });
    expect(await bytes(method, path)).toEqual(missing);
  });

  test('HEAD, without the body', async () => {
    expect(await bytes('HEAD', '/v2/other')).toMatchObject({
      status: 404,
      text: '',
      media: 'application/problem+json',
    });
  });

  test('a request whose header asks for another method', async () => {
    const answer = await app.send('/v2/things', { method: 'PATCH', headers: { 'x-http-method-override': 'GET' } });
    expect(answer.status).toBe(404);
  });
});

describe('a problem that a handler throws', () => {
  test.each(Object.entries(problemKinds) as [ProblemKind, { status: number }][])(
    '%s becomes the response unchanged',
    async (kind, { status }) => {
      next = () => {
        throw new Problem(kind, 'It is so.', { 'x-more': 'yes' });
      };
      const answer = await app.send('/v2/things');
      expect(problemOf(answer)).toEqual({ status, kind, detail: 'It is so.', media: 'application/problem+json' });
      expect(answer.headers).toMatchObject({
        'x-more': 'yes',
        'cache-control': 'no-store',
        'content-length': String(Buffer.byteLength(answer.text)),
      });
      expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
    },
  );
});

describe('503: a bug', () => {
  test.each<[string, unknown]>([
    ['an error', new Error('the secret cause')],
    ['an error that claims a status', Object.assign(new Error('the secret cause'), { status: 400, expose: true })],
    ['a string', 'the secret cause'],
    ['nothing', undefined],
    ['null', null],
  ])('%s, is answered without its cause, and may be tried again', async (_what, error) => {
    next = () => Promise.reject(error);
    const answer = await app.send('/v2/things');
    expect(problemOf(answer)).toEqual(unavailable);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.text).not.toContain('secret');
  });

  test('is logged with its cause and the id of the request', async () => {
    next = () => {
      throw new Error('the very cause');
    };
    await app.send('/v2/things', { headers: { 'x-request-id': 'request-with-a-fault' } });
    const line = app.logs
      .text()
      .split('\n')
      .find((text) => text.includes('the very cause'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      level: 50,
      request_id: 'request-with-a-fault',
      err: { message: 'the very cause' },
    });
  });

  test.each<[string, unknown]>([
    ['a field of another type', { id: 'leaked', size: '1' }],
    ['a missing field', { id: 'leaked' }],
    ['an additional field', { id: 'leaked', size: 1, password_hash: 'leaked' }],
    ['a number that is not an integer', { id: 'leaked', size: 1.5 }],
    ['no body', undefined],
    ['null', null],
    ['a list', ['leaked']],
  ])('an answer against its contract, %s, is logged and never sent', async (_what, body) => {
    next = () => body;
    const answer = await app.send('/v2/things');
    expect(problemOf(answer)).toEqual(unavailable);
    expect(answer.text).not.toContain('leaked');
    if (body !== undefined) expect(app.logs.text()).toContain('get_thing answers');
  });

  test('a response that production does not check must still be one', async () => {
    next = () => ({ id: 'a', size: 'unchecked' });
    expect((await inProduction.send('/v2/things')).text).toBe('{"id":"a","size":"unchecked"}');
    next = () => undefined;
    expect(problemOf(await inProduction.send('/v2/things'))).toEqual(unavailable);
  });
});

test('requests are counted by operation and status, never by path', async () => {
  const path = `/v2/things/${newId('campaign')}`;
  await app.send(path, { method: 'DELETE' });
  await app.send('/v2/nowhere/at-all');
  const text = await app.registry.metrics();
  expect(text).toMatch(
    /http_requests_total\{service="probe",method="DELETE",operation="drop_thing",status="204"\} \d+/,
  );
  expect(text).toMatch(/http_requests_total\{service="probe",method="GET",operation="none",status="404"\} \d+/);
  expect(text).not.toContain('cmp_');
  expect(text).not.toContain('nowhere');
});
