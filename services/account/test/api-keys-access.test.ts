import { newId } from '@attribution/ids';
import {
  badTokens,
  internalToken,
  keyToken,
  personToken,
  sendRaw,
  supportToken,
  type TestService,
} from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join, type Person, rows, startAccountService } from './support.ts';
import { type Key, makeKey } from './support-keys.ts';

let service: TestService;
let ada: Person;
let key: Key;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
  key = await makeKey(ada.client);
});
afterAll(() => service.stop());

const calls: [method: string, path: string, body: string | undefined][] = [
  ['GET', '/v2/api-keys', undefined],
  ['POST', '/v2/api-keys', '{"name":"x"}'],
  ['GET', '/v2/api-keys/{id}', undefined],
  ['PATCH', '/v2/api-keys/{id}', '{"name":"x"}'],
  ['DELETE', '/v2/api-keys/{id}', undefined],
  ['POST', '/v2/api-keys/{id}/rotate', undefined],
];
const ofOneKey = calls.filter(([, path]) => path.includes('{id}'));
const writes = calls.filter(([method]) => method !== 'GET');

const send = (method: string, path: string, token: string | undefined, body?: string, id = key.id) =>
  sendRaw(service, method, path.replace('{id}', id), token, body);

async function kindOf(answer: ReturnType<typeof sendRaw>): Promise<string> {
  const { status, text } = await answer;
  const { type = '', detail } = JSON.parse(text || '{}') as { type?: string; detail?: string };
  return `${status} ${type.split('/').at(-1)} ${detail}`;
}

const allKeys = () => rows(service, 'SELECT * FROM api_keys ORDER BY id');

test.each(calls)('401: %s %s without one of our tokens', async (method, path, body) => {
  const before = await allKeys();
  const internal: [string, string] = ['an internal token', internalToken('billing', 'account')];
  for (const [, token] of [...badTokens(), internal]) {
    const answer = await send(method, path, token, body);
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  }
  expect(await allKeys()).toEqual(before);
});

test.each(calls)('401: %s %s with the id and the secret of a key instead of a token', async (method, path, body) => {
  const response = await fetch(service.url + path.replace('{id}', key.id), {
    method,
    headers: {
      'content-type': 'application/json',
      'x-access-key-id': key.access_key_id,
      'x-access-key-secret': key.access_key_secret,
    },
    ...(body && { body }),
  });
  expect(response.status).toBe(401);
});

test.each(calls)('403: %s %s with the token of any key, before the body is read', async (method, path) => {
  const before = await allKeys();
  const account = ada.accountId;
  const writing = { type: 'api', readonly: false };
  for (const token of [
    keyToken({ account }),
    keyToken({ account, role: 'admin', key: writing }),
    keyToken({ account, role: 'admin', key: { type: 'production', readonly: false } }),
  ]) {
    expect(await kindOf(send(method, path, token, method === 'GET' ? undefined : '{'))).toBe(
      '403 forbidden An API key cannot be used here: sign in as a person.',
    );
  }
  expect(await allKeys()).toEqual(before);
});

test.each(calls)('403: %s %s for a member, or without access to account', async (method, path) => {
  const before = await allKeys();
  const account = ada.accountId;
  const body = method === 'GET' ? undefined : '{';
  const member = personToken({ account, role: 'member' });
  expect(await kindOf(send(method, path, member, body))).toMatch(/^403 forbidden The role member is not allowed here/);
  for (const svc of [{}, { campaign: 'w' }]) {
    expect(await kindOf(send(method, path, personToken({ account, svc }), body))).toBe(
      '403 forbidden This credential has no access to account.',
    );
  }
  expect(await allKeys()).toEqual(before);
});

test.each(writes)(
  '403: %s %s for a support session, and for a caller who only reads in account',
  async (method, path) => {
    const before = await allKeys();
    const account = ada.accountId;
    expect(await kindOf(send(method, path, supportToken({ account }), '{'))).toBe(
      '403 forbidden A support session only looks on.',
    );
    expect(await kindOf(send(method, path, personToken({ account, svc: { '*': 'r' } }), '{'))).toBe(
      '403 forbidden This credential may only read in account.',
    );
    expect(await allKeys()).toEqual(before);
  },
);

test('200: a support session reads keys', async () => {
  const token = supportToken({ account: ada.accountId });
  for (const path of ['/v2/api-keys', '/v2/api-keys/{id}']) expect((await send('GET', path, token)).status).toBe(200);
});

const shapes: [string, (foreign: string) => string][] = [
  ['another account’s', (foreign) => foreign],
  ['that nobody has', () => newId('api_key')],
  ['of another kind', () => newId('user')],
  ['in upper case', () => key.id.toUpperCase()],
  ['cut short', () => key.id.slice(0, -1)],
  ['made longer', () => `${key.id}0`],
  ['without its prefix', () => key.id.slice(4)],
  ['that is an access key id', () => key.access_key_id],
  ['that is SQL', () => encodeURIComponent(`${key.id}' OR '1'='1`)],
  ['with a NUL', () => `${key.id}%00`],
  ['that is no text', () => '%ff'],
];

test.each(ofOneKey)(
  '404: %s %s sends the same response byte for byte for every id that is not of the account',
  async (method, path, body) => {
    const other = await join(service);
    const { id: foreign } = await makeKey(other.client);
    const before = await allKeys();
    const token = ada.session.access_token;
    const unknown = await send(method, path, token, body, newId('api_key'));
    expect(unknown.status).toBe(404);
    for (const [what, idOf] of shapes)
      expect([what, await send(method, path, token, body, idOf(foreign))]).toEqual([what, unknown]);
    expect(await allKeys()).toEqual(before);
  },
);

test('400: a malformed body gets the same response whoever owns the key', async () => {
  const other = await join(service);
  const { id: foreign } = await makeKey(other.client);
  for (const [method, path, body] of [
    ['PATCH', '/v2/api-keys/{id}', '{"readonly":1}'],
    ['POST', '/v2/api-keys/{id}/rotate', '{"grace":1}'],
  ] as const) {
    const token = ada.session.access_token;
    const own = await send(method, path, token, body);
    expect(own.status).toBe(400);
    for (const id of [foreign, newId('api_key')]) expect(await send(method, path, token, body, id)).toEqual(own);
  }
});
