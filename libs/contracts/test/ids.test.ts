import { newId, newUuid } from '@attribution/ids';
import { describe, expect, test } from '@jest/globals';
import { v4 as uuidv4, v6 as uuidv6 } from 'uuid';
import { type IdKind, id, idPrefixes } from '../src/index.ts';

/** Spec §2.1, and the prefix of the campaign ad below the table. */
const specified = [
  'acc',
  'usr',
  'inv',
  'key',
  'pln',
  'led',
  'hld',
  'job',
  'rt',
  'grp',
  'loc',
  'zon',
  'scr',
  'ins',
  'ad',
  'apf',
  'sco',
  'asl',
  'mlb',
  'mda',
  'anl',
  'cmp',
  'dev',
  'cam',
  'bl',
  'pay',
  'ref',
  'cs',
  'cad',
];

const kinds = Object.keys(idPrefixes) as IdKind[];

test('the prefixes are those of the specification, each of one kind alone', () => {
  expect(Object.values(idPrefixes).sort()).toEqual(specified.sort());
});

describe.each(kinds)('an id of the kind %s', (kind) => {
  const prefix = idPrefixes[kind];

  test('is its prefix, an underscore and a UUIDv7 in lower case, and fits its own schema', () => {
    const made = newId(kind);
    expect(made).toMatch(new RegExp(`^${prefix}_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`));
    expect(id(kind).parse(made)).toBe(made);
  });

  test('is refused as an id of every other kind, and theirs as one of its own', () => {
    const schema = id(kind);
    for (const other of kinds.filter((name) => name !== kind)) {
      expect(schema.safeParse(newId(other)).success).toBe(false);
    }
  });
});

const uuid = newUuid();
test.each([
  ['no prefix', uuid],
  ['another prefix', `xyz_${uuid}`],
  ['a longer prefix', `agrp_${uuid}`],
  ['a dash for the underscore', `grp-${uuid}`],
  ['no underscore', `grp${uuid}`],
  ['the prefix in upper case', `GRP_${uuid}`],
  ['the UUID in upper case', `grp_01968F3E-7A4B-7CC1-9F6E-3A5B2C1D0E4F`],
  ['a UUID of version 4', `grp_${uuidv4()}`],
  ['a UUID of version 6', `grp_${uuidv6()}`],
  ['a UUID of another variant', 'grp_01968f3e-7a4b-7cc1-cf6e-3a5b2c1d0e4f'],
  ['no dashes', `grp_${uuid.replaceAll('-', '')}`],
  ['one character more', `grp_${uuid}0`],
  ['one character less', `grp_${uuid.slice(0, -1)}`],
  ['a line end behind it', `grp_${uuid}\n`],
  ['a space before it', ` grp_${uuid}`],
  ['nothing at all', ''],
])('an id with %s is refused', (_what, value) => {
  expect(id('group').safeParse(value).success).toBe(false);
});

test.each([
  ['user', 'must be a user id (usr_…)'],
  ['api_key', 'must be an api key id (key_…)'],
  ['group', 'must be a group id (grp_…)'],
  ['ad', 'must be an ad id (ad_…)'],
] as const)('a refused %s id says what it must be', (kind, message) => {
  expect(id(kind).safeParse('nothing').error?.issues[0]?.message).toBe(message);
});
