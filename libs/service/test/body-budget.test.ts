import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { eventually, personToken } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { implement } from '../src/index.ts';
import { type App, declare, invalid, json, problemOf, startApp } from './support.ts';

const mebi = 1024 * 1024;
/** A client's share are two large bodies; all clients together have twelve. */
const budget = 16 * mebi;

let handling: Promise<unknown> = Promise.resolve();
const access = { any: { credential: 'any' }, none: { credential: 'none' } } as const;
const taking = (path: `/v2/${string}`, credential: keyof typeof access) =>
  implement(
    declare({
      method: 'POST',
      path,
      access: access[credential],
      changes_nothing: true,
      body: z.object({ a: z.string() }),
    }),
    async () => void (await handling),
  );

let app: App;
beforeAll(async () => {
  app = await startApp([taking('/v2/things', 'any'), taking('/v2/open', 'none')], { bodyBudget: budget });
});
afterAll(() => app.stop());

let undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo) step();
  undo = [];
  handling = Promise.resolve();
  await eventually(() => expect(app.bodies.used).toBe(0));
});

const newToken = () => personToken();

function open(token: string, headers: Record<string, string> = {}, path = '/v2/things'): ClientRequest {
  const authorization = `Bearer ${token}`;
  const options = { port: app.port, host: '127.0.0.1', path, method: 'POST', agent: false } as const;
  const req = request({ ...options, headers: { authorization, ...json, ...headers } }).on('error', () => {});
  undo.push(() => req.destroy());
  return req;
}

async function statusOf(req: ClientRequest): Promise<[number | undefined, string | undefined]> {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  res.resume();
  return [res.statusCode, res.headers['retry-after']];
}

const post = (token: string) =>
  app.send('/v2/things', { method: 'POST', headers: { authorization: `Bearer ${token}`, ...json }, body: '{"a":"b"}' });

test.each<[string, Record<string, string>]>([
  ['of a known length', { 'content-length': String(mebi) }],
  ['in chunks', {}],
])('503: stalled bodies %s of one account hold its share, and other accounts are served', async (_what, headers) => {
  const attacker = newToken();
  const refused: unknown[] = [];
  for (let n = 0; n < 12; n++) {
    const req = open(attacker, headers);
    req.write(Buffer.alloc(mebi - 1, ' '));
    void statusOf(req).then(
      (answer) => refused.push(answer),
      () => {},
    );
  }
  await eventually(() => expect(refused).toHaveLength(10));
  expect(refused).toEqual(refused.map(() => [503, '2']));
  await eventually(() => expect(app.bodies.used).toBeGreaterThan(2 * mebi - 10));
  expect(app.bodies.used).toBeLessThanOrEqual(2 * mebi);
  expect((await post(newToken())).status).toBe(204);
  expect(app.bodies.refused).toMatchObject({ budget: 0 });
});

test('503: large bodies of many accounts leave room for the small ones of everybody', async () => {
  const stalled = Array.from({ length: 20 }, newToken).map((token) => open(token, { 'content-length': String(mebi) }));
  const refused: unknown[] = [];
  for (const req of stalled) {
    req.write('{');
    void statusOf(req).then(
      (answer) => refused.push(answer),
      () => {},
    );
  }
  await eventually(() => expect(refused).toHaveLength(8));
  expect(app.bodies.used).toBe(12 * mebi);
  expect((await post(newToken())).status).toBe(204);
});

test('a body counts until its request is answered, or its client has left', async () => {
  const go = Promise.withResolvers<void>();
  handling = go.promise;
  const answers = [newToken(), newToken()].map(async (token) => (await post(token)).status);
  await eventually(() => expect(app.bodies.used).toBe(18));
  open(newToken(), { 'content-length': '100' }).write('{');
  await eventually(() => expect(app.bodies.used).toBe(118));
  undo.pop()?.();
  await eventually(() => expect(app.bodies.used).toBe(18));
  go.resolve();
  expect(await Promise.all(answers)).toEqual([204, 204]);
});

test('503: a packed body counts as the largest that it may become', async () => {
  const attacker = newToken();
  for (let n = 0; n < 2; n++) open(attacker, { 'content-encoding': 'gzip', 'content-length': '100' }).write('x');
  await eventually(() => expect(app.bodies.used).toBe(2 * mebi));
  expect((await post(attacker)).status).toBe(503);
});

test('400: a body without a token is 16 KiB at most, packed or not, with a length and in chunks', async () => {
  const { gzipSync } = await import('node:zlib');
  const large = JSON.stringify({ a: 'x'.repeat(16_384) });
  const wanted = invalid('body: is larger than 16384 bytes.');
  for (const chunked of [false, true]) {
    const sent = { method: 'POST', chunked } as const;
    expect(problemOf(await app.send('/v2/open', { ...sent, headers: json, body: large }))).toEqual(wanted);
    const headers = { ...json, 'content-encoding': 'gzip' };
    expect(problemOf(await app.send('/v2/open', { ...sent, headers, body: gzipSync(large) }))).toEqual(wanted);
    const exact = JSON.stringify({ a: 'x'.repeat(16_384 - 8) });
    expect((await app.send('/v2/open', { ...sent, headers: json, body: exact })).status).toBe(204);
  }
});
