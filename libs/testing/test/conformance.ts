import { type Endpoint, endpoints, type Role } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { badTokens } from '../src/bad-tokens.ts';
import { sendRaw } from '../src/send-raw.ts';
import { problemBase, type TestService } from '../src/service.ts';
import { keyToken, personToken, supportToken } from '../src/tokens.ts';

/** What the tests need to know about a service besides its contracts. */
export interface Conformance {
  readonly service: Endpoint['service'];
  start(): Promise<TestService>;
  /** The statuses that an owner gets without a body and with an unknown id, where these do not follow from the contract. */
  readonly answers?: Readonly<Record<string, number>>;
  /** Operations that first check access rules which need data, so that only owners are certain to be let in. */
  readonly judging?: readonly string[];
}

/** A caller, with everything that decides on its access. */
interface Caller {
  readonly who: string;
  readonly token: string;
  readonly kind: 'person' | 'key' | 'support';
  readonly role: Role;
  readonly readonly?: true;
  readonly withoutBilling?: true;
  /** The access to the service that the token grants. Default: `w`. */
  readonly granted?: 'r' | 'none';
}

const isRead = ({ method }: Endpoint) => method === 'GET';
const narrowed = () => ({ group_scope: 'selected', groups: { [newId('group')]: 'a' } });

function callersOf(service: string): Caller[] {
  const writing = { type: 'api', readonly: false };
  const reading = { type: 'api', readonly: true };
  const person = (who: string, role: Role, claims: object = {}, more: Partial<Caller> = {}): Caller => {
    return { who, token: personToken({ role, ...claims }), kind: 'person', role, ...more };
  };
  const key = (who: string, role: Role, claims: object, more: Partial<Caller> = {}): Caller => {
    return { who, token: keyToken({ role, ...claims }), kind: 'key', role, ...more };
  };
  const withoutBilling = true;
  const granting = (svc: unknown, granted: 'r' | 'none') =>
    person(`an owner with the svc claim ${JSON.stringify(svc)}`, 'owner', { svc }, { granted });
  return [
    person('an owner', 'owner'),
    person('an admin', 'admin'),
    person('a member', 'member'),
    person('a member who is admin of a group', 'member', narrowed()),
    person('a viewer', 'viewer'),
    { who: 'a support session', token: supportToken(), kind: 'support', role: 'admin' },
    key('a viewer key', 'viewer', { key: reading }, { readonly: true }),
    key('a viewer key that says it may write', 'viewer', { key: writing }, { readonly: true }),
    key('a read-only admin key', 'admin', { key: reading }, { readonly: true }),
    key('a member key that may write', 'member', { key: writing }),
    key('an admin key that may write', 'admin', { key: writing }),
    ...(['owner', 'admin', 'member'] as const).map((role) =>
      person(`a person as ${role} without billing access`, role, { bil: 'n' }, { withoutBilling }),
    ),
    key(
      'a viewer key without billing access',
      'viewer',
      { key: reading, bil: 'n' },
      { readonly: true, withoutBilling },
    ),
    key(
      'a read-only admin key without billing access',
      'admin',
      { key: reading, bil: 'n' },
      { readonly: true, withoutBilling },
    ),
    ...(['member', 'admin'] as const).map((role) =>
      key(`a ${role} key without billing access`, role, { key: writing, bil: 'n' }, { withoutBilling }),
    ),
    person(
      'an owner with every service, and without billing access',
      'owner',
      { svc: { '*': 'w' }, bil: 'n' },
      { withoutBilling },
    ),
    ...[{ [service]: 'w' }, { '*': 'w' }, { [service]: 'w', '*': 'r' }].flatMap((svc) => [
      person(`a member with the svc claim ${JSON.stringify(svc)}`, 'member', { svc }),
      person(`an owner with the svc claim ${JSON.stringify(svc)}`, 'owner', { svc }),
      key(`a member key with the svc claim ${JSON.stringify(svc)}`, 'member', { key: writing, svc }),
    ]),
    ...[{ [service]: 'r' }, { '*': 'r' }, { [service]: 'r', '*': 'w' }].map((svc) => granting(svc, 'r')),
    ...[{}, { elsewhere: 'w' }, 'w', [service], null, { [service]: 'rw', '*': 'x' }].map((svc) =>
      granting(svc, 'none'),
    ),
  ];
}

/** The first reason, in the order of the checks, why the contract refuses a caller; undefined if it allows the caller. */
function refusalOf(endpoint: Endpoint, caller: Caller): string | undefined {
  const { access, service } = endpoint;
  if (access.credential !== 'any' && access.credential !== 'person') return undefined;
  const { roles, billing } = access;
  const write = !isRead(endpoint);
  const refusals: [boolean, string][] = [
    [caller.kind === 'support' && write, 'A support session only looks on.'],
    [caller.kind === 'key' && access.credential === 'person', 'An API key cannot be used here: sign in as a person.'],
    [caller.readonly === true && write, 'This API key is read-only.'],
    [
      roles !== undefined && !roles.includes(caller.role),
      `The role ${caller.role} is not allowed here: it takes ${roles?.join(' or ')}.`,
    ],
    [write && caller.role === 'viewer', 'A viewer changes nothing.'],
    [billing === true && caller.withoutBilling === true, 'This credential has no billing access.'],
    [caller.granted === 'none', `This credential has no access to ${service}.`],
    [caller.granted === 'r' && write, `This credential may only read in ${service}.`],
  ];
  return refusals.find(([applies]) => applies)?.[1];
}

/**
 * Declares tests that a service implements what its contracts say about access and pages: which callers are refused with
 * 401 and 403, with which detail, before the request is read; which callers are allowed; which pages are 400. The tests
 * cover every endpoint of the service, so a new one is tested from its first day.
 */
export function describeConformance({ service: name, start, answers = {}, judging = [] }: Conformance): void {
  const guarded = endpoints.filter(
    ({ service, access }) => service === name && (access.credential === 'any' || access.credential === 'person'),
  );
  let service: TestService;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.stop());

  async function ask({ method, path }: Endpoint, token: string | undefined, query = '') {
    const { status, headers, text } = await sendRaw(
      service,
      method,
      path.replaceAll(/\{\w+\}/g, 'nothing') + query,
      token,
    );
    const problem = status >= 400 ? (JSON.parse(text) as { detail: string }) : undefined;
    return { status, headers, problem };
  }

  function letIn({ operation, params, body, upload, success }: Endpoint): number {
    if (answers[operation] !== undefined) return answers[operation];
    if (params) return 404;
    return body || upload ? 400 : success.status;
  }

  describe(`${name} conforms to its contracts`, () => {
    test('there are endpoints that look at a token', () => {
      expect(guarded.length).toBeGreaterThan(0);
    });

    test.each(badTokens())('401: %s opens no endpoint, and the answer says how to authenticate', async (_, token) => {
      const [first] = guarded;
      const one = first && (await ask(first, token));
      for (const endpoint of guarded) {
        const answer = await ask(endpoint, token);
        const { status, headers, problem } = answer;
        expect([endpoint.operation, status]).toEqual([endpoint.operation, 401]);
        expect(answer).toEqual(one);
        expect(headers).toMatchObject({ 'www-authenticate': 'Bearer', 'content-type': 'application/problem+json' });
        const detail = 'The bearer token is missing, invalid or expired.';
        expect(problem).toEqual({ type: `${problemBase}/unauthorized`, title: 'Not authenticated', status, detail });
      }
    });

    test.each(callersOf(name))('$who is let in where the contract says so, and gets 403 elsewhere', async (caller) => {
      for (const endpoint of guarded) {
        const { operation } = endpoint;
        const { status, headers, problem } = await ask(endpoint, caller.token);
        const detail = refusalOf(endpoint, caller);
        if (detail !== undefined) {
          expect([operation, status, problem?.detail]).toEqual([operation, 403, detail]);
          expect(problem).toMatchObject({ type: `${problemBase}/forbidden`, status });
          expect(headers).toMatchObject({ 'content-type': 'application/problem+json' });
        } else if (caller.role === 'owner' || !judging.includes(operation)) {
          expect([operation, status]).toEqual([operation, letIn(endpoint)]);
        }
      }
    });

    const paged = guarded.filter(({ query, params }) => query && 'cursor' in query.shape && !params);
    const refused = paged.flatMap((endpoint) =>
      ['limit=0', 'limit=201', 'limit=-1', 'limit=ten', 'limit=', 'cursor=nonsense', 'cursor='].map(
        (query) => [query, endpoint.operation, endpoint] as const,
      ),
    );
    const each = refused.length > 0 ? test.each(refused) : () => {}; // Jest refuses a table without rows.
    each('400: ?%s of %s is refused and named', async (query, _, endpoint) => {
      const { status, problem } = await ask(endpoint, personToken(), `?${query}`);
      expect([status, problem?.detail]).toEqual([400, expect.stringContaining(`query.${query.split('=')[0]}`)]);
    });
  });
}
