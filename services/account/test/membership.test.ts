import { describe, expect, test } from '@jest/globals';
import { chooseMembership, claimsOf, expandServices, hasBilling, type Membership } from '../src/sessions/index.ts';

const membership = (fields: Partial<Membership> = {}): Membership => ({
  user_id: 'usr_1',
  account_id: 'acc_1',
  role: 'member',
  group_scope: 'all',
  services: null,
  billing: false,
  status: 'active',
  joined_at: new Date('2026-03-01T00:00:00Z'),
  grants: [],
  ...fields,
});

describe('chooseMembership', () => {
  type Status = 'active' | 'suspended' | 'closed';
  const of = (
    name: string,
    role: Membership['role'],
    joined: string,
    fields: { account?: Status; status?: 'disabled' } = {},
  ) => ({
    ...membership({
      account_id: name,
      role,
      joined_at: new Date(joined),
      ...(fields.status && { status: fields.status }),
    }),
    account: { status: fields.account ?? ('active' as Status) },
  });

  test.each([
    ['nothing of nothing', [], undefined],
    ['an own account before an earlier one', [of('a', 'admin', '2020'), of('b', 'owner', '2024')], 'b'],
    ['the earliest own account', [of('a', 'owner', '2024'), of('b', 'owner', '2022'), of('c', 'owner', '2023')], 'b'],
    ['the earliest of any role without an own one', [of('a', 'admin', '2022'), of('b', 'member', '2021')], 'b'],
    ['never a closed one', [of('a', 'owner', '2020', { account: 'closed' }), of('b', 'member', '2024')], 'b'],
    ['never a disabled membership', [of('a', 'owner', '2020', { status: 'disabled' }), of('b', 'member', '2024')], 'b'],
    [
      'a suspended account, which is open',
      [of('a', 'owner', '2020', { account: 'suspended' }), of('b', 'owner', '2024')],
      'a',
    ],
    ['nothing where all are closed', [of('a', 'owner', '2020', { account: 'closed' })], undefined],
  ])('%s', (_what, memberships, chosen) => {
    expect(chooseMembership(memberships)?.account_id).toBe(chosen);
    expect(chooseMembership(memberships.toReversed())?.account_id).toBe(chosen);
  });

  test('leaves the list as it is', () => {
    const list = [of('a', 'owner', '2024'), of('b', 'owner', '2022')];
    chooseMembership(list);
    expect(list.map(({ account_id }) => account_id)).toEqual(['a', 'b']);
  });
});

describe('claimsOf', () => {
  const base = { sub: 'usr_1', account: 'acc_1', account_type: 'network' };

  test.each([
    ['an owner: no restriction, no claim', { role: 'owner' }, { role: 'owner' }],
    ['a member: no billing', {}, { role: 'member', bil: 'n' }],
    ['a member with billing', { billing: true }, { role: 'member' }],
    [
      'narrowed',
      { billing: true, group_scope: 'selected', grants: [{ group_id: 'grp_1', role: 'a' }] },
      { role: 'member', group_scope: 'selected', groups: { grp_1: 'a' } },
    ],
    [
      'narrowed to nothing',
      { billing: true, group_scope: 'selected' },
      { role: 'member', group_scope: 'selected', groups: {} },
    ],
    [
      'account-wide with grants left over',
      { billing: true, grants: [{ group_id: 'grp_1', role: 'a' }] },
      { role: 'member' },
    ],
    ['a services map', { billing: true, services: { '*': 'r' } }, { role: 'member', svc: { '*': 'r' } }],
    ['no service', { billing: true, services: {} }, { role: 'member', svc: {} }],
  ] as [string, Partial<Membership>, object][])('%s', (_what, fields, claims) => {
    expect(claimsOf(membership(fields), 'network')).toEqual({ ...base, ...claims });
  });
});

describe('expandServices', () => {
  const all = ['account', 'organization', 'device', 'campaign', 'events', 'billing', 'utilities'];
  const every = (letter: 'r' | 'w') => Object.fromEntries(all.map((name) => [name, letter]));
  const owner = { role: 'owner' } as const;

  test.each([
    ['no map: everything', { ...owner }, every('w')],
    ['the wildcard', { ...owner, services: { '*': 'r' } }, every('r')],
    ['a name before the wildcard', { ...owner, services: { '*': 'w', events: 'r' } }, { ...every('w'), events: 'r' }],
    ['names alone', { ...owner, services: { events: 'r' } }, { events: 'r' }],
    ['an empty map: nothing', { ...owner, services: {} }, {}],
    ['no billing: billing absent, whatever the map says', { services: { '*': 'w', billing: 'w' } }, without('billing')],
    ['billing by grant', { billing: true }, every('w')],
  ] as [string, Partial<Membership>, object][])('%s', (_what, fields, expected) => {
    expect(expandServices(membership(fields))).toEqual(expected);
  });

  function without(name: string) {
    return Object.fromEntries(Object.entries(every('w')).filter(([service]) => service !== name));
  }
});

test.each([
  ['owner', false, true],
  ['admin', false, true],
  ['member', false, false],
  ['member', true, true],
] as const)('hasBilling: %s, granted %s: %s', (role, billing, expected) => {
  expect(hasBilling({ role, billing })).toBe(expected);
});
