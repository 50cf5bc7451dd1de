import { type Endpoint, endpoints } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, problemBase, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { badTokens, sendRaw, startCampaign } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

/** Every endpoint of the contract, so that a new one is covered from its first day. */
const all = endpoints.filter((endpoint) => endpoint.service === 'campaign');
const isRead = (endpoint: Endpoint) => endpoint.method === 'GET';

/** Asks without a body and for an unknown id: who may not enter learns neither that nor anything else. */
async function ask(endpoint: Endpoint, token: string | undefined) {
  const answer = await sendRaw(service, endpoint.method, endpoint.path.replace('{id}', newId('campaign')), token);
  return { ...answer, detail: (JSON.parse(answer.text) as { detail?: string }).detail };
}

/** What an endpoint says to that question, asked by one who may enter. */
const letIn = (endpoint: Endpoint) => {
  if (endpoint.body) return 400;
  return endpoint.params ? 404 : 200;
};

test('the contract has all four endpoints of the area', () => {
  expect(all).toHaveLength(4);
});

test.each(badTokens())('401: %s opens no endpoint, and the answer says how to authenticate', async (_, token) => {
  for (const endpoint of all) {
    const answer = await ask(endpoint, token);
    expect([endpoint.operation, answer.status]).toEqual([endpoint.operation, 401]);
    expect(answer.headers).toMatchObject({ 'www-authenticate': 'Bearer', 'content-type': 'application/problem+json' });
    expect(JSON.parse(answer.text)).toEqual({
      type: `${problemBase}/unauthorized`,
      title: 'Not authenticated',
      status: 401,
      detail: 'The bearer token is missing, invalid or expired.',
    });
  }
});

describe('the svc claim', () => {
  test.each<[string, unknown]>([
    ['names no service', {}],
    ['names other services alone', { organization: 'w', account: 'w' }],
    ['cannot be read', ['campaign']],
    ['holds a letter that nobody knows', { campaign: 'rw', '*': 'x' }],
  ])('403: one that %s grants nothing', async (_, svc) => {
    for (const endpoint of all) {
      const answer = await ask(endpoint, personToken({ svc }));
      expect([endpoint.operation, answer.status]).toEqual([endpoint.operation, 403]);
      expect(answer.detail).toBe('This credential has no access to campaign.');
    }
  });

  test.each<[string, object]>([
    ['r', { campaign: 'r' }],
    ['a wildcard r', { '*': 'r' }],
    ['r beside a wildcard w', { campaign: 'r', '*': 'w' }],
  ])('403: %s refuses every write, and reads pass', async (_, svc) => {
    for (const endpoint of all) {
      const answer = await ask(endpoint, personToken({ svc }));
      expect([endpoint.operation, answer.status]).toEqual([
        endpoint.operation,
        isRead(endpoint) ? letIn(endpoint) : 403,
      ]);
      if (!isRead(endpoint)) expect(answer.detail).toBe('This credential may only read in campaign.');
    }
  });

  test.each<[string, unknown]>([
    ['absent', undefined],
    ['w', { campaign: 'w' }],
    ['a wildcard w', { '*': 'w' }],
    ['w beside a wildcard r', { campaign: 'w', '*': 'r' }],
  ])('%s lets a member, and a key that may write, into every endpoint', async (_, svc) => {
    const writing = { type: 'api', readonly: false };
    for (const token of [personToken({ role: 'member', svc }), keyToken({ role: 'member', key: writing, svc })]) {
      for (const endpoint of all) {
        expect([endpoint.operation, (await ask(endpoint, token)).status]).toEqual([
          endpoint.operation,
          letIn(endpoint),
        ]);
      }
    }
  });
});

test.each<[string, string, string]>([
  ['a viewer key', keyToken(), 'This API key is read-only.'],
  [
    'a viewer key that calls itself writeable',
    keyToken({ key: { type: 'api', readonly: false } }),
    'This API key is read-only.',
  ],
  [
    'a read-only admin key',
    keyToken({ role: 'admin', key: { type: 'api', readonly: true } }),
    'This API key is read-only.',
  ],
  ['a person who is a viewer', personToken({ role: 'viewer' }), 'A viewer changes nothing.'],
])('403: %s reads everything and writes nothing', async (_, token, detail) => {
  for (const endpoint of all) {
    const answer = await ask(endpoint, token);
    expect([endpoint.operation, answer.status]).toEqual([endpoint.operation, isRead(endpoint) ? letIn(endpoint) : 403]);
    if (!isRead(endpoint)) expect(answer.detail).toBe(detail);
  }
});
