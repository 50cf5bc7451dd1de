import { newId } from '@attribution/ids';
import { keyToken, personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { implement } from '../src/index.ts';
import { type App, declare, json, problemOf, startApp, thingId } from './support.ts';

const change = declare({
  method: 'PATCH',
  path: '/v2/things/{id}',
  access: { credential: 'person', roles: ['owner', 'admin'] },
  external: true,
  params: thingId,
  query: z.object({ limit: z.string().max(2, 'must be short').optional() }),
  body: z.object({ size: z.int() }),
  success: { status: 200, description: '', body: z.object({ caller: z.unknown() }) },
});
const open = declare({ method: 'GET', path: '/v2/open', success: change.success });

let app: App;
beforeAll(async () => {
  app = await startApp([
    implement(change, async ({ caller }) => ({ caller: { id: caller.id, kind: caller.kind } })),
    implement(open, async ({ caller }) => ({ caller: caller === undefined })),
  ]);
});
afterAll(() => app.stop());

const good = {
  path: `/v2/things/${newId('campaign')}?limit=1`,
  authorization: `Bearer ${personToken()}`,
  body: '{"size":1}',
};
const call = ({ path, authorization, body }: Partial<typeof good>) =>
  app.send(path ?? good.path, {
    method: 'PATCH',
    headers: { ...json, ...(authorization && { authorization }) },
    body: body ?? good.body,
  });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('200: a valid request reaches the handler, with the caller that its token names', async () => {
  const sub = newId('user');
  const answer = await call(bearer(personToken({ sub })));
  expect(answer).toMatchObject({ status: 200, text: JSON.stringify({ caller: { id: sub, kind: 'person' } }) });
});

const bad = { path: '/v2/things/nothing?limit=100', body: '{' };

test('401: an invalid token is refused before anything else is checked', async () => {
  for (const authorization of [undefined, 'Bearer nothing', `Basic ${personToken()}`]) {
    const answer = await app.send(bad.path, {
      method: 'PATCH',
      headers: { ...json, ...(authorization && { authorization }) },
      body: bad.body,
    });
    expect(problemOf(answer)).toMatchObject({
      status: 401,
      kind: 'unauthorized',
      detail: 'The bearer token is missing, invalid or expired.',
    });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  }
});

test('403: permissions are checked after the token and before the input', async () => {
  const key = problemOf(
    await call({ ...bad, ...bearer(keyToken({ role: 'admin', key: { type: 'api', readonly: false } })) }),
  );
  expect(key).toMatchObject({
    status: 403,
    kind: 'forbidden',
    detail: 'An API key cannot be used here: sign in as a person.',
  });
  const member = problemOf(await call({ ...bad, ...bearer(personToken({ role: 'member' })) }));
  expect(member).toMatchObject({
    status: 403,
    kind: 'forbidden',
    detail: 'The role member is not allowed here: it takes owner or admin.',
  });
});

test('404, then 400: the id is checked before the query, and the query before the body', async () => {
  const { authorization } = good;
  expect(problemOf(await call({ ...bad, authorization }))).toMatchObject({ status: 404, kind: 'not-found' });
  const query = await call({ path: `/v2/things/${newId('campaign')}?limit=100`, authorization, body: bad.body });
  expect(problemOf(query)).toMatchObject({ status: 400, detail: 'query.limit: must be short, not "100".' });
  expect(problemOf(await call({ authorization, body: bad.body }))).toMatchObject({
    status: 400,
    detail: 'body: is not valid JSON.',
  });
});

test('200: an endpoint without credentials ignores an invalid token, and has no caller', async () => {
  const answer = await app.send('/v2/open', { headers: { authorization: 'Bearer nothing' } });
  expect(answer).toMatchObject({ status: 200, text: '{"caller":true}' });
});

test('headers that name a caller let no one in', async () => {
  const headers = {
    ...json,
    'x-user-id': newId('user'),
    'x-account-id': newId('account'),
    'x-role': 'owner',
    cookie: `token=${personToken()}`,
  };
  const answer = await app.send(`${good.path}&access_token=${personToken()}`, {
    method: 'PATCH',
    headers,
    body: good.body,
  });
  expect(answer.status).toBe(401);
});
