import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { implement } from '../src/index.ts';
import { type App, declare, echoBody, echoQuery, invalid, json, problemOf, startApp } from './support.ts';

let app: App;
beforeAll(async () => {
  const optional = declare({ method: 'POST', path: '/v2/optional', body: z.object({ a: z.int() }).optional() });
  const without = declare({ method: 'POST', path: '/v2/without' });
  app = await startApp([
    echoBody(z.looseObject({})),
    echoQuery,
    implement(optional, async () => {}),
    implement(without, async () => {}),
  ]);
});
afterAll(() => app.stop());

const post = (path: string, headers: Record<string, string>, body = '{"a":1}') =>
  app.send(path, { method: 'POST', headers, body });

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json; charset="utf-8"',
  'application/json; version=1',
  ' application/json ',
])('%j is JSON', async (type) => {
  expect((await post('/v2/echo', { 'content-type': type })).status).toBe(200);
});

test.each([
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/problem+json',
  'application/jsonp',
  'json',
  '',
  'application/json, text/plain',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
])('400: %j is not, whatever the body looks like', async (type) => {
  const answer = await post('/v2/echo', { 'content-type': type });
  expect(problemOf(answer)).toEqual(invalid('Content-Type: must be application/json.'));
});

test('400: a body without a type is refused', async () => {
  expect(problemOf(await post('/v2/echo', {}))).toEqual(invalid('Content-Type: must be application/json.'));
});

test('204: an optional body may be left out without a content type, and is validated when it is sent', async () => {
  expect((await app.send('/v2/optional', { method: 'POST' })).status).toBe(204);
  expect((await post('/v2/optional', json)).status).toBe(204);
  expect(problemOf(await post('/v2/optional', json, '{"a":"1"}'))).toEqual(
    invalid('body.a: must be a number, not "1".'),
  );
});

test('204: a contract without a body ignores any body that is sent', async () => {
  expect((await post('/v2/without', { 'content-type': 'text/plain' }, 'not { JSON')).status).toBe(204);
});

test('a body on GET is ignored, and the connection stays usable', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports: unknown[] = [];
  for (const body of ['not { JSON', 'x'.repeat(300_000)]) {
    const req = request({
      port: app.port,
      path: '/v2/echo?name=n',
      method: 'GET',
      agent,
      headers: { 'content-length': body.length },
    });
    req.end(body);
    const [res] = (await once(req, 'response')) as [import('node:http').IncomingMessage];
    ports.push(res.socket.localPort);
    expect(res.statusCode).toBe(200);
    for await (const _ of res);
  }
  expect(new Set(ports).size).toBe(1);
  agent.destroy();
});
