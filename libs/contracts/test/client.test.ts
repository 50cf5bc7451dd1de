import { newId } from '@attribution/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ContractViolation, createClient, endpoint, Problem, type ProblemKind } from '../src/index.ts';
import { startCannedServer } from './support.ts';

const Thing = z.object({ id: z.string(), size: z.int() });
const common = { path: '/v2/things/{id}', service: 'campaign', summary: '', access: { credential: 'any' } } as const;
const getThing = endpoint({
  ...common,
  operation: 'get_thing',
  method: 'GET',
  params: z.object({ id: z.string() }),
  query: z.object({ limit: z.string().optional(), tags: z.string().optional() }),
  success: { status: 200, description: '', body: Thing },
});
const changeThing = endpoint({
  ...common,
  operation: 'change_thing',
  method: 'PATCH',
  params: z.object({ id: z.string() }),
  body: z.object({ size: z.int() }),
  success: { status: 204, description: '' },
  problems: ['conflict'],
});
const sendFile = endpoint({
  ...common,
  path: '/v2/files',
  operation: 'send_file',
  method: 'POST',
  upload: { media: ['text/csv', 'application/x-ndjson'], max_bytes: 1000 },
  success: { status: 202, description: '' },
});
const getFile = endpoint({
  ...common,
  path: '/v2/files',
  operation: 'get_file',
  method: 'GET',
  success: { status: 200, description: '', download: { media: ['text/csv', 'application/x-ndjson'] } },
});

let server: Awaited<ReturnType<typeof startCannedServer>>;
beforeAll(async () => {
  server = await startCannedServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.seen.length = 0;
});

const client = () => createClient({ baseUrl: server.baseUrl });
const call = () => client().call(getThing, { params: { id: 'a' } });
const json = { 'content-type': 'application/json' };
const problem = (kind: ProblemKind, status?: number) => {
  const given = new Problem(kind, 'It is so.');
  return {
    status: status ?? given.status,
    headers: given.toHeaders(),
    body: JSON.stringify(given.toJSON('https://problems.test')),
  };
};

describe('a request', () => {
  test('has the contract’s method, path, query and body, encoded, without undefined query values', async () => {
    server.answerWith({ status: 200, headers: json, body: '{"id":"a","size":1}' });
    await client().call(getThing, { params: { id: 'a/b?c' }, query: { tags: 'x,y&z', limit: undefined } });
    server.answerWith({ status: 204 });
    await client().call(changeThing, { params: { id: 'a' }, body: { size: 2 } });
    expect(server.seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', '/v2/things/a%2Fb%3Fc?tags=x%2Cy%26z', ''],
      ['PATCH', '/v2/things/a', '{"size":2}'],
    ]);
    expect(server.seen.map(({ headers }) => headers['content-type'])).toEqual([undefined, 'application/json']);
  });

  test('has the bearer token, which a function may return for each call', async () => {
    server.answerWith({ status: 204 });
    let count = 0;
    const counting = client().with({ token: () => `t${++count}`, headers: { 'x-extra': '1' } });
    const input = { params: { id: 'a' }, body: { size: 1 } };
    await counting.call(changeThing, input);
    await counting.call(changeThing, input);
    await counting.with({ token: undefined }).call(changeThing, input);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer t1', 'Bearer t2', undefined]);
    expect(server.seen.map(({ headers }) => headers['x-extra'])).toEqual(['1', '1', '1']);
  });
});

test.each([
  ['text', 'a,b\n1,é\n'],
  ['bytes', new TextEncoder().encode('a,b\n1,é\n')],
  ['a stream', ReadableStream.from([new Uint8Array(Buffer.from('a,b\n1,')), new Uint8Array(Buffer.from('é\n'))])],
])('a file is sent from %s, with its media type', async (what, content) => {
  server.answerWith({ status: 202 });
  const headers = { 'idempotency-key': 'k' };
  const answer = await client().call(sendFile, { headers, upload: { media: 'text/csv', content } });
  expect(answer).toMatchObject({ status: 202, body: undefined });
  expect(server.seen).toMatchObject([{ method: 'POST', body: 'a,b\n1,é\n', headers }]);
  expect(server.seen[0]?.headers['content-type']).toBe('text/csv');
  expect(server.seen[0]?.headers['content-length']).toBe(what === 'a stream' ? undefined : '9');
});

describe('a file in a response', () => {
  const fileHeaders = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="estate.csv"',
  };
  const answerFile = (over: object, body = '\uFEFFa,b\r\n1,é\r\n') =>
    server.answerWith({ status: 200, headers: { ...fileHeaders, ...over }, body });
  const get = () => client().call(getFile);

  test('is returned as unchanged text, with its media type and its name', async () => {
    answerFile({});
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(body).toEqual({ media: 'text/csv', filename: 'estate.csv', text: '\uFEFFa,b\r\n1,é\r\n' });
    answerFile({ 'content-type': 'application/x-ndjson; charset=utf-8' }, '');
    expect((await get()).body).toMatchObject({ media: 'application/x-ndjson', text: '' });
  });

  test('is refused if it exceeds the limit for memory', async () => {
    answerFile({}, 'x'.repeat(1001));
    const careful = client().with({ maxDownload: 1000 });
    await expect(careful.call(getFile)).rejects.toThrow(RangeError);
    answerFile({}, 'x'.repeat(1000));
    expect((await careful.call(getFile)).body.text).toHaveLength(1000);
  });

  test.each([
    ['another media type', { 'content-type': 'text/html; charset=utf-8' }],
    ['no charset', { 'content-type': 'text/csv' }],
    ['a name that is missing', { 'content-disposition': 'attachment' }],
    ['an answer to be shown', { 'content-disposition': 'inline; filename="a.csv"' }],
  ])('with %s violates the contract', async (_what, over) => {
    answerFile(over);
    await expect(get()).rejects.toThrow(ContractViolation);
  });

  test('can be a problem instead, which is returned by its kind', async () => {
    server.answerWith(problem('forbidden'));
    expect((await get()).problem).toMatchObject({ kind: 'forbidden' });
  });
});

describe('a response', () => {
  test('with a success has the parsed body, status and headers; fields that the contract does not have are ignored', async () => {
    server.answerWith({
      status: 200,
      headers: { ...json, 'x-request-id': 'r1' },
      body: '{"id":"a","size":1,"later":true}',
    });
    const answer = await call();
    expect(answer).toMatchObject({ status: 200, body: { id: 'a', size: 1 }, problem: undefined });
    expect(answer.body).not.toHaveProperty('later');
    expect(answer.headers.get('x-request-id')).toBe('r1');
  });

  test('with a problem that the contract lists has its kind, and reading the body throws it', async () => {
    server.answerWith(problem('not-found'));
    const answer = await call();
    expect(answer.status).toBe(404);
    expect(answer.problem).toMatchObject({ kind: 'not-found', status: 404, detail: 'It is so.' });
    expect(() => answer.body).toThrow('GET /v2/things/{id} answered 404: not-found: It is so.');
  });
});

const { body } = problem('not-found');
const media = { 'content-type': 'application/problem+json' };

test.each([
  ['another success status', { status: 201, headers: json, body: '{"id":"a","size":1}' }],
  ['a body against its schema', { status: 200, headers: json, body: '{"id":"a","size":"1"}' }],
  ['no body', { status: 200 }],
  ['a body that is not JSON', { status: 200, headers: json, body: '<html>' }],
  ['a failure without a body', { status: 404 }],
  ['a failure that is no problem', { status: 404, headers: media, body: '{"error":"no"}' }],
  ['a problem of another media type', { status: 404, headers: json, body }],
  ['a problem whose status is not its kind’s', { status: 400, headers: media, body }],
  ['a problem that is not listed', problem('gone')],
  ['a problem of no kind', { status: 404, headers: media, body: body.replace('not-found', 'lost') }],
  ['a status outside the contract', problem('unavailable', 500)],
  ['a plain 405', { status: 405, headers: { 'content-type': 'text/plain' }, body: 'no' }],
])('%s is a violation of the contract, and thrown', async (_what, canned) => {
  server.answerWith(canned);
  await expect(call()).rejects.toThrow(ContractViolation);
});

test('a body where the contract has none is a violation', async () => {
  server.answerWith({ status: 204 });
  const change = () => client().call(changeThing, { params: { id: newId('group') }, body: { size: 1 } });
  await expect(change()).resolves.toMatchObject({ status: 204, body: undefined });
  const withBody = endpoint({ ...changeThing, success: { status: 202, description: '' } });
  server.answerWith({ status: 202, headers: json, body: '{}' });
  await expect(client().call(withBody, { params: { id: 'a' }, body: { size: 1 } })).rejects.toThrow(
    'answered 202 with a body',
  );
});
