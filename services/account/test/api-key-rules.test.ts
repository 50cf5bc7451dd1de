import type { Principal } from '@attribution/auth';
import { describe, expect, test } from '@jest/globals';
import { requireGivable, rotatedExpiries } from '../src/api-keys/api-key.ts';

const caller = (more: Partial<Principal> = {}): Principal => ({
  kind: 'person',
  id: 'usr_1',
  accountId: 'acc_1',
  accountType: 'network',
  role: 'admin',
  sessionId: 's1',
  readonly: false,
  groups: null,
  billing: true,
  services: null,
  ...more,
});

describe('which rights a caller can give to a key', () => {
  test.each([
    ['owner', ['viewer', 'member', 'admin']],
    ['admin', ['viewer', 'member', 'admin']],
    ['member', ['viewer', 'member']],
    ['viewer', ['viewer']],
  ] as const)('a %s gives the roles %j', (role, givable) => {
    for (const given of ['viewer', 'member', 'admin'] as const) {
      const give = () => requireGivable(caller({ role }), { role: given });
      if ((givable as readonly string[]).includes(given)) expect(give).not.toThrow();
      else expect(give).toThrow(`The role ${given} is above your own.`);
    }
  });

  test.each<[string, Partial<Principal>, boolean]>([
    ['an account-wide admin', {}, true],
    ['a narrowed admin who administers the group', { groups: new Map([['g1', 'a']]) }, true],
    ['a narrowed admin who is a member of it', { groups: new Map([['g1', 'm']]) }, false],
    ['a narrowed admin of another group', { groups: new Map([['g2', 'a']]) }, false],
    ['an account-wide member', { role: 'member' }, false],
    ['a key', { kind: 'key' }, false],
  ])('%s gives a group: %p', (_who, more, allowed) => {
    const give = () => requireGivable(caller(more), { groups: [{ group_id: 'g1', role: 'm' }] });
    if (allowed) expect(give).not.toThrow();
    else expect(give).toThrow('You do not administer the group g1.');
  });

  test('only a caller with all groups can give all groups', () => {
    expect(() => requireGivable(caller(), { group_scope: 'all' })).not.toThrow();
    expect(() => requireGivable(caller({ groups: new Map([['g1', 'a']]) }), { group_scope: 'all' })).toThrow(
      'The group_scope all is wider than your own.',
    );
  });
});

describe('the expiries after a rotation', () => {
  const at = (hours: number) => new Date(Date.UTC(2026, 0, 1, hours));
  const key = (expires: Date | null) => ({
    created_at: at(0),
    expires_at: expires,
    rotated_at: null,
    revoked_at: null,
  });
  const hour = 3_600_000;

  test.each([
    ['without an expiry and without grace', null, 0, at(10), null],
    ['without an expiry', null, 5 * hour, at(15), null],
    ['whose expiry is later than the grace', at(24), 5 * hour, at(15), at(34)],
    ['whose expiry is sooner than the grace', at(12), 5 * hour, at(12), at(22)],
    ['whose expiry is the end of the grace', at(15), 5 * hour, at(15), at(25)],
    ['that has expired', at(4), 5 * hour, at(4), at(14)],
  ])('of a key %s', (_what, expires, grace, old, renewed) => {
    expect(rotatedExpiries(key(expires), grace, at(10))).toEqual({ old, renewed });
  });
});
