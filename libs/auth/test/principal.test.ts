import { serviceNames } from '@attribution/contracts';
import { keyToken, personToken, testKeys } from '@attribution/testing';
import { describe, expect, test } from '@jest/globals';
import { administersGroup, createVerifier, seesGroup, serviceAccess, visibleGroupIds } from '../src/index.ts';

const verifier = createVerifier(testKeys.public);
const person = (claims: Parameters<typeof personToken>[0] = {}) =>
  verifier.authenticate(`Bearer ${personToken(claims)}`);
const key = (claims: Parameters<typeof keyToken>[0] = {}) => verifier.authenticate(`Bearer ${keyToken(claims)}`);

describe('group claims', () => {
  test('both absent: the caller is account-wide', () => {
    const caller = person();
    expect(caller.groups).toBeNull();
    expect(visibleGroupIds(caller)).toBeNull();
    expect(seesGroup(caller, 'grp_any')).toBe(true);
  });

  test('a scope of all without groups is account-wide too', () => {
    expect(person({ group_scope: 'all' }).groups).toBeNull();
  });

  test('letters a and m grant, and nothing else does', () => {
    const groups = {
      g1: 'a',
      g2: 'm',
      g3: 'x',
      g4: 'A',
      g5: '',
      g6: null,
      g7: true,
      g8: 1,
      g9: ['a'],
      g10: { a: 1 },
      '': 'a',
      g11: 'am',
    };
    const caller = person({ role: 'member', group_scope: 'selected', groups });
    expect(caller.groups).toEqual(
      new Map([
        ['g1', 'a'],
        ['g2', 'm'],
      ]),
    );
    expect(visibleGroupIds(caller)).toEqual(['g1', 'g2']);
    expect(seesGroup(caller, 'g2')).toBe(true);
    expect(seesGroup(caller, 'g3')).toBe(false);
  });

  test.each<[string, object]>([
    ['a scope of selected without groups', { group_scope: 'selected' }],
    ['no groups', { group_scope: 'selected', groups: {} }],
    ['groups of null', { group_scope: 'selected', groups: null }],
    ['groups of null without a scope', { groups: null }],
    ['a scope of null', { group_scope: null }],
    ['an unknown scope', { group_scope: 'some' }],
    ['a scope in upper case', { group_scope: 'ALL' }],
    ['a list of groups', { groups: ['g1', 'a'] }],
    ['a list of grants', { groups: [{ group_id: 'g1', role: 'a' }] }],
    ['a string', { groups: 'g1' }],
    ['a number', { groups: 7 }],
    ['true', { groups: true }],
    ['groups within groups', { groups: { groups: { g1: 'a' } } }],
    ['a scope of all beside groups that cannot be read', { group_scope: 'all', groups: 'g1' }],
  ])('%s grants nothing', (_what, claims) => {
    const caller = person({ role: 'member', ...claims });
    expect(caller.groups).toEqual(new Map());
    expect(visibleGroupIds(caller)).toEqual([]);
    expect(seesGroup(caller, 'g1')).toBe(false);
  });

  test('groups named like inherited properties are ordinary groups', () => {
    const groups = JSON.parse('{"__proto__":"a","constructor":"m"}') as object;
    const caller = person({ role: 'member', groups });
    expect(seesGroup(caller, 'constructor')).toBe(true);
    expect(seesGroup(caller, 'toString')).toBe(false);
    expect(administersGroup(caller, 'constructor')).toBe(false);
  });
});

describe('who sets up the estate in a group', () => {
  test.each([
    ['an account-wide owner', person(), true],
    ['an account-wide admin', person({ role: 'admin' }), true],
    ['an account-wide member', person({ role: 'member' }), false],
    ['a member who is the group’s admin', person({ role: 'member', groups: { g1: 'a' } }), true],
    ['a member of the group', person({ role: 'member', groups: { g1: 'm' } }), false],
    ['a member who is another group’s admin', person({ role: 'member', groups: { g2: 'a' } }), false],
    ['an owner whose groups cannot be read', person({ groups: null }), false],
    ['an admin key', key({ role: 'admin', key: { type: 'api', readonly: false } }), false],
    [
      'a key that is the group’s admin',
      key({ role: 'member', key: { type: 'api', readonly: false }, groups: { g1: 'a' } }),
      false,
    ],
  ])('%s: %p', (_who, caller, expected) => {
    expect(administersGroup(caller, 'g1')).toBe(expected);
  });
});

describe('service claims', () => {
  test('absent: full access to every service', () => {
    const caller = person();
    expect(caller.services).toBeNull();
    for (const service of serviceNames) expect(serviceAccess(caller, service)).toBe('w');
  });

  test('a grant for the service precedes the wildcard’s; without either there is no access', () => {
    const withWildcard = person({ svc: { '*': 'r', campaign: 'w' } });
    expect(serviceAccess(withWildcard, 'campaign')).toBe('w');
    expect(serviceAccess(withWildcard, 'billing')).toBe('r');
    const without = person({ svc: { campaign: 'r' } });
    expect(serviceAccess(without, 'campaign')).toBe('r');
    expect(serviceAccess(without, 'billing')).toBeUndefined();
  });

  test.each([
    null,
    {},
    [],
    ['w'],
    'w',
    true,
    { campaign: 'rw' },
    { campaign: 'W' },
    { Campaign: 'w' },
    { campaign: null },
    { campaign: ['w'] },
    { unknown: 'w' },
  ])('%j, which cannot be read, grants none', (svc) => {
    for (const service of serviceNames) expect(serviceAccess(person({ svc }), service)).toBeUndefined();
  });
});

describe('other properties of a caller', () => {
  test('a person has a session, a key has none', () => {
    expect(person({ sid: 's1' })).toMatchObject({ kind: 'person', sessionId: 's1', readonly: false });
    expect(key()).toMatchObject({ kind: 'key', sessionId: null });
  });

  test.each([
    [
      'a viewer key is read-only whatever it says',
      key({ role: 'viewer', key: { type: 'api', readonly: false } }),
      true,
    ],
    ['a read-only member key is', key({ role: 'member', key: { type: 'api', readonly: true } }), true],
    ['a member key that writes is not', key({ role: 'member', key: { type: 'api', readonly: false } }), false],
    ['a person is not', person({ role: 'member' }), false],
  ])('%s', (_what, caller, expected) => {
    expect(caller.readonly).toBe(expected);
  });

  test('a support session is neither a person nor a key, and can only read', () => {
    const operator = person({ sub: 'grace', role: 'admin', support: { reason: 'Ticket' } });
    expect(operator).toMatchObject({ kind: 'support', id: 'grace', role: 'admin', readonly: true, groups: null });
    expect(administersGroup(operator, 'g1')).toBe(false);
    expect(key({ role: 'admin', key: { type: 'api', readonly: false }, support: { reason: 'Ticket' } })).toMatchObject({
      kind: 'support',
      readonly: true,
    });
  });

  test('only the claim `n` refuses billing access, whatever the role', () => {
    expect(person({ role: 'owner', bil: 'n' }).billing).toBe(false);
    expect(person({ role: 'member', bil: 'y' }).billing).toBe(true);
    expect(person({ role: 'member' }).billing).toBe(true);
  });
});
