import { type Access, type Endpoint, endpoint, type Role } from '@attribution/contracts';
import { describe, expect, test } from '@jest/globals';
import { type Principal, refuseAccess, refuseCredential } from '../src/index.ts';

const asked = (access: Access, method: Endpoint['method'] = 'GET', service: Endpoint['service'] = 'campaign') =>
  endpoint({
    operation: 'o',
    method,
    path: '/v2/things',
    service,
    summary: '',
    access,
    success: { status: 204, description: '' },
  });

const person = (more: Partial<Principal> = {}): Principal => ({
  kind: 'person',
  id: 'usr_1',
  accountId: 'acc_1',
  accountType: 'network',
  role: 'member',
  sessionId: 's1',
  readonly: false,
  groups: null,
  billing: true,
  services: null,
  ...more,
});
const key = (more: Partial<Principal> = {}) => person({ kind: 'key', id: 'key_1', sessionId: null, ...more });
const support = (more: Partial<Principal> = {}) =>
  person({ kind: 'support', id: 'grace', role: 'admin', sessionId: null, readonly: true, ...more });
const services = (map: Record<string, 'r' | 'w'>) => ({
  services: new Map(Object.entries(map)) as Principal['services'],
});

const detailOf = (contract: Endpoint, caller: Principal) => refuseAccess(contract, caller)?.detail;
const any: Access = { credential: 'any' };
const people: Access = { credential: 'person' };
const billing: Access = { credential: 'any', billing: true };
const either: Access = { credential: 'optional' };
const self: Access = { credential: 'any', about_self: true };
const admins: Access = { credential: 'any', roles: ['owner', 'admin'] };

const noKeys = 'An API key cannot be used here: sign in as a person.';
const onlooker = 'A support session only looks on.';
const readonlyKey = 'This API key is read-only.';
const viewer = 'A viewer changes nothing.';
const noBilling = 'This credential has no billing access.';
const noService = 'This credential has no access to campaign.';
const readsService = 'This credential may only read in campaign.';
const notAdmin = (role: Role) => `The role ${role} is not allowed here: it takes owner or admin.`;

type Row = [who: string, caller: Principal, access: Access, reading: string | undefined, writing: string | undefined];

test.each<Row>([
  [
    'anybody, where no token is asked for',
    person({ role: 'viewer', ...services({}) }),
    { credential: 'none' },
    undefined,
    undefined,
  ],
  ['a person', person(), any, undefined, undefined],
  ['a person, where people are asked for', person(), people, undefined, undefined],
  ['a person who is a viewer', person({ role: 'viewer' }), any, undefined, viewer],
  ['a viewer about themselves', person({ role: 'viewer' }), self, undefined, undefined],
  ['a key that writes', key(), any, undefined, undefined],
  ['a key that writes, where people are asked for', key(), people, noKeys, noKeys],
  ['a read-only key', key({ readonly: true }), any, undefined, readonlyKey],
  ['a read-only key about itself', key({ readonly: true }), self, undefined, readonlyKey],
  ['a read-only key, where people are asked for', key({ readonly: true }), people, noKeys, noKeys],
  ['a person, where no token is needed', person({ role: 'viewer', ...services({}) }), either, undefined, undefined],
  ['a key that writes, where no token is needed', key({ role: 'admin' }), either, noKeys, noKeys],
  ['a key that writes, where people act on themselves', key(), { ...people, about_self: true }, noKeys, noKeys],
  ['a support session', support(), any, undefined, onlooker],
  ['a support session, where people are asked for', support(), people, undefined, onlooker],
  ['a support session among admins', support(), admins, undefined, onlooker],
  ['a support session, where billing is needed', support(), billing, undefined, onlooker],
  ['a support session, where people act on themselves', support(), { ...people, about_self: true }, onlooker, onlooker],
  ['a support session about itself', support(), self, onlooker, onlooker],
  ['a support session, where no token is needed', support(), either, onlooker, onlooker],
  ['a support session of no service', support(services({})), any, noService, onlooker],
  ['an owner among admins', person({ role: 'owner' }), admins, undefined, undefined],
  ['an admin among admins', person({ role: 'admin' }), admins, undefined, undefined],
  ['a member among admins', person({ role: 'member' }), admins, notAdmin('member'), notAdmin('member')],
  ['a viewer among admins', person({ role: 'viewer' }), admins, notAdmin('viewer'), notAdmin('viewer')],
  ['an admin key among admins', key({ role: 'admin' }), admins, undefined, undefined],
  ['a member key among admins', key({ role: 'member' }), admins, notAdmin('member'), notAdmin('member')],
  ['a caller with billing', person(), billing, undefined, undefined],
  ['a caller without billing', person({ billing: false }), billing, noBilling, noBilling],
  ['an owner without billing', person({ role: 'owner', billing: false }), billing, noBilling, noBilling],
  ['a caller without billing, where it is not needed', person({ billing: false }), any, undefined, undefined],
  ['a read-only key with billing', key({ readonly: true }), billing, undefined, readonlyKey],
  ['a caller who writes in the service', person(services({ campaign: 'w' })), any, undefined, undefined],
  ['a caller who reads in the service', person(services({ campaign: 'r' })), any, undefined, readsService],
  ['a caller of other services', person(services({ billing: 'w' })), any, noService, noService],
  ['a caller of no service', person(services({})), any, noService, noService],
  ['a caller who reads everywhere', person(services({ '*': 'r' })), any, undefined, readsService],
  [
    'a caller who reads here and writes elsewhere',
    person(services({ '*': 'w', campaign: 'r' })),
    any,
    undefined,
    readsService,
  ],
  ['a caller of no service, about themselves', person(services({})), self, undefined, undefined],
  [
    'an owner who reads everywhere',
    person({ role: 'owner', ...services({ '*': 'r' }) }),
    admins,
    undefined,
    readsService,
  ],
])('%s', (_who, caller, access, reading, writing) => {
  expect(detailOf(asked(access, 'GET'), caller)).toBe(reading);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const)
    expect(detailOf(asked(access, method), caller)).toBe(writing);
});

test('every refusal is 403', () => {
  const callers = [key(), support(), person({ role: 'viewer' }), person(services({})), person(services({ '*': 'r' }))];
  for (const caller of callers) expect(refuseAccess(asked(people, 'POST'), caller)?.kind).toBe('forbidden');
});

describe('only the first reason is reported', () => {
  const caller = key({ readonly: true, role: 'viewer', billing: false, ...services({}) });
  test.each<[string, Access, Endpoint['method'], string]>([
    ['the kind of credential', { credential: 'person', roles: ['owner', 'admin'], billing: true }, 'POST', noKeys],
    ['then that it is read-only', { ...admins, billing: true }, 'POST', readonlyKey],
    ['then the role', { ...admins, billing: true }, 'GET', notAdmin('viewer')],
    ['then billing', billing, 'GET', noBilling],
    ['then the service', any, 'GET', noService],
  ])('%s', (_what, access, method, detail) => {
    expect(detailOf(asked(access, method), caller)).toBe(detail);
  });
});

test('the gateway checks only the credential, not the role, the service or billing', () => {
  const caller = person({ role: 'viewer', billing: false, ...services({}) });
  expect(refuseCredential(asked({ ...admins, billing: true }, 'POST'), caller)).toBeUndefined();
  expect(refuseCredential(asked(people), key())?.detail).toBe(noKeys);
  expect(refuseCredential(asked(either), key())?.detail).toBe(noKeys);
  expect(refuseCredential(asked(people, 'POST'), support())?.detail).toBe(onlooker);
  expect(refuseCredential(asked(any, 'DELETE'), key({ readonly: true }))?.detail).toBe(readonlyKey);
});

test('each service has its own access', () => {
  const caller = person(services({ account: 'w', organization: 'r' }));
  expect(detailOf(asked(any, 'POST', 'account'), caller)).toBeUndefined();
  expect(detailOf(asked(any, 'POST', 'organization'), caller)).toBe('This credential may only read in organization.');
  expect(detailOf(asked(any, 'GET', 'billing'), caller)).toBe('This credential has no access to billing.');
});
