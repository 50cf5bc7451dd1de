import { type Endpoint, endpoints, exportEstate, matchScreens } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, problemBase, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kindNames, kinds } from './kinds.ts';
import { badTokens, sendRaw, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

/** Every endpoint of the contract, so that a new one is covered from its first day. */
const all = endpoints.filter((endpoint) => endpoint.service === 'organization');
const isRead = (endpoint: Endpoint) => endpoint.method === 'GET';

/** Asks without a body and for an unknown id: who may not enter learns neither that nor anything else. */
async function ask(endpoint: Endpoint, token: string | undefined) {
  const kind = kindNames.find((name) => endpoint.path.startsWith(kinds[name].path)) ?? 'job';
  const answer = await sendRaw(service, endpoint.method, endpoint.path.replace('{id}', newId(kind)), token);
  return {
    ...answer,
    problem: answer.status >= 400 ? (JSON.parse(answer.text) as { type: string; detail: string }) : undefined,
  };
}

/** What an endpoint says to that question, asked by one who may enter. */
const letIn = (endpoint: Endpoint) => {
  if (endpoint.body || endpoint.upload) return 400;
  return endpoint.params ? 404 : 200;
};

test('the contract has all endpoints of the area', () => {
  expect(all).toHaveLength(36);
});

test('no key writes, and every list and thing of the estate is read by a key that may read', () => {
  const byKeys = all.filter(({ access }) => access.credential === 'any');
  expect(byKeys.filter((endpoint) => !isRead(endpoint))).toEqual([]);
  const reads = kindNames.flatMap((kind) => [kinds[kind].list, kinds[kind].get]);
  expect(byKeys).toEqual(expect.arrayContaining([...reads, matchScreens, exportEstate]));
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
  const owner = (svc: unknown) => personToken({ svc });

  test.each<[string, unknown]>([
    ['names no service', {}],
    ['names other services alone', { campaign: 'w', account: 'w' }],
    ['is a text', 'w'],
    ['is a list', ['organization']],
    ['is null', null],
    ['holds a letter that nobody knows', { organization: 'rw', '*': 'x' }],
  ])('403: one that %s grants nothing', async (_, svc) => {
    for (const endpoint of all) {
      const answer = await ask(endpoint, owner(svc));
      expect([endpoint.operation, answer.status]).toEqual([endpoint.operation, 403]);
      expect(answer.problem).toMatchObject({
        type: `${problemBase}/forbidden`,
        detail: 'This credential has no access to organization.',
      });
    }
  });

  test.each<[string, object]>([
    ['r', { organization: 'r' }],
    ['a wildcard r', { '*': 'r' }],
    ['r beside a wildcard w', { organization: 'r', '*': 'w' }],
  ])('403: %s refuses every write, and reads pass', async (_, svc) => {
    for (const endpoint of all) {
      const answer = await ask(endpoint, owner(svc));
      expect([endpoint.operation, answer.status]).toEqual([
        endpoint.operation,
        isRead(endpoint) ? letIn(endpoint) : 403,
      ]);
      if (!isRead(endpoint)) expect(answer.problem?.detail).toBe('This credential may only read in organization.');
    }
  });

  test.each<[string, unknown]>([
    ['absent', undefined],
    ['w', { organization: 'w' }],
    ['a wildcard w', { '*': 'w' }],
    ['w beside a wildcard r', { organization: 'w', '*': 'r' }],
  ])('%s lets an owner into every endpoint', async (_, svc) => {
    for (const endpoint of all) {
      const answer = await ask(endpoint, owner(svc));
      expect([endpoint.operation, answer.status]).toEqual([endpoint.operation, letIn(endpoint)]);
    }
  });
});

test.each([
  ['a viewer key', keyToken()],
  ['a member key that may write', keyToken({ role: 'member', key: { type: 'api', readonly: false } })],
  ['an admin key that may write', keyToken({ role: 'admin', key: { type: 'api', readonly: false } })],
])('403: %s reads the estate and sets up nothing', async (_, token) => {
  for (const endpoint of all) {
    const answer = await ask(endpoint, token);
    const keyMay = endpoint.access.credential === 'any';
    expect([endpoint.operation, answer.status]).toEqual([endpoint.operation, keyMay ? letIn(endpoint) : 403]);
    if (!keyMay) expect(answer.problem?.detail).toBe('An API key cannot be used here: sign in as a person.');
  }
});

test('403: a member sets up no groups, account-wide or as admin of a group', async () => {
  const writes = all.filter((endpoint) => !isRead(endpoint) && endpoint.path.startsWith('/v2/groups'));
  expect(writes).toHaveLength(3);
  const ofGroup = { group_scope: 'selected', groups: { [newId('group')]: 'a' } };
  for (const endpoint of writes) {
    for (const claims of [{}, ofGroup]) {
      const answer = await ask(endpoint, personToken({ role: 'member', ...claims }));
      expect([endpoint.operation, answer.status]).toEqual([endpoint.operation, 403]);
      expect(answer.problem?.detail).toBe('The role member is not allowed here: it takes owner or admin.');
    }
  }
});

test('403: a person who is a viewer reads everything and changes nothing', async () => {
  for (const endpoint of all) {
    const answer = await ask(endpoint, personToken({ role: 'viewer' }));
    expect([endpoint.operation, answer.status]).toEqual([endpoint.operation, isRead(endpoint) ? letIn(endpoint) : 403]);
  }
});
