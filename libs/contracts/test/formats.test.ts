import { newId } from '@attribution/ids';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import {
  CalendarDate,
  Cents,
  CommaSeparated,
  Count,
  Email,
  id,
  JsonObject,
  MailedName,
  Name,
  Text,
  Timestamp,
  TimeZone,
  Tokens,
  unchangeable,
} from '../src/index.ts';

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

describe('timestamps', () => {
  test.each([
    '2026-03-01T09:30:00Z',
    '2026-03-01T09:30:00.123Z',
    '2024-02-29T23:59:59.999999Z',
    '2026-03-01T09:30:00.123456789Z',
  ])('%s is one', (text) => {
    expect(Timestamp.parse(text)).toBe(text);
  });

  test.each([10, 11, 100_000])('one with %d fractional digits is refused, and the error names the limit', (digits) => {
    const { error } = Timestamp.safeParse(`2026-03-01T09:30:00.${'1'.repeat(digits)}Z`);
    expect(error?.issues.map(({ message }) => message)).toEqual([
      'must have at most 9 digits of a fraction of a second',
    ]);
  });

  test.each([
    ['no zone', '2026-03-01T09:30:00'],
    ['an offset', '2026-03-01T09:30:00+00:00'],
    ['a lower-case zone', '2026-03-01T09:30:00z'],
    ['a space for the T', '2026-03-01 09:30:00Z'],
    ['no seconds', '2026-03-01T09:30Z'],
    ['no time', '2026-03-01'],
    ['hour 24', '2026-03-01T24:00:00Z'],
    ['minute 60', '2026-03-01T09:60:00Z'],
    ['a day that does not exist', '2026-02-29T09:30:00Z'],
    ['month 13', '2026-13-01T09:30:00Z'],
    ['the year 0', '0000-01-01T00:00:00Z'],
    ['a number', 1_772_357_400],
  ])('one with %s is refused', (_what, value) => {
    expect(accepts(Timestamp, value)).toBe(false);
  });
});

describe('calendar dates', () => {
  test.each(['2026-03-01', '2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31'])('%s is one', (text) => {
    expect(CalendarDate.parse(text)).toBe(text);
  });

  test.each([
    ['29 February of a common year', '2023-02-29'],
    ['29 February of a century', '1900-02-29'],
    ['30 February', '2024-02-30'],
    ['31 April', '2026-04-31'],
    ['month 0', '2026-00-10'],
    ['month 13', '2026-13-01'],
    ['day 0', '2026-01-00'],
    ['the year 0, which no calendar of ours has', '0000-01-01'],
    ['short parts', '2026-3-1'],
    ['a two-digit year', '26-03-01'],
    ['a time behind it', '2026-03-01T00:00:00Z'],
    ['a sign', '-2026-03-01'],
    ['another order', '01.03.2026'],
    ['a line end', '2026-03-01\n'],
  ])('%s is refused, and the error describes a date', (_what, text) => {
    expect(CalendarDate.safeParse(text).error?.issues[0]?.message).toBe('must be a calendar date (YYYY-MM-DD)');
  });
});

describe('e-mail addresses', () => {
  test.each(['ada@example.com', 'a.b+tag@sub.example.co', "o'brien@example.ie", '1_2-3@example-4.com'])(
    '%s is one',
    (text) => {
      expect(Email.parse(text)).toBe(text);
    },
  );

  test('one keeps its letter case, without the spaces around it', () => {
    expect(Email.parse('  Ada@Example.com ')).toBe('Ada@Example.com');
  });

  const local = 'a'.repeat(64);
  const longest = `${local}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(63)}.com`;
  test('254 characters are valid, one more is not', () => {
    expect(longest).toHaveLength(254);
    expect(accepts(Email, longest)).toBe(true);
    expect(Email.safeParse(`${longest}m`).error?.issues[0]?.message).toBe('must have at most 254 characters');
  });

  test.each([
    '',
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'ada@@example.com',
    'ada@exa mple.com',
    'ada example@example.com',
    'ada@example..com',
    '.ada@example.com',
    'ada.@example.com',
    'a..da@example.com',
    'ada@-example.com',
    'ada@example-.com',
    `ada@${'b'.repeat(64)}.com`,
    `${'a'.repeat(65)}@example.com`,
    'Ada <ada@example.com>',
    'ada@example.com, bob@example.com',
    'ada@example.com\nbcc: bob@example.com',
    'ada@[127.0.0.1]',
  ])('%j is none', (text) => {
    expect(accepts(Email, text)).toBe(false);
  });
});

describe('time zones', () => {
  /** Zones of the IANA database, and links, which the runtime's own list does not contain. */
  const links = [
    ...['UTC', 'GMT', 'Etc/UTC', 'Etc/GMT', 'Etc/GMT+5', 'Etc/GMT-14', 'GMT0', 'GMT+0', 'Zulu', 'UCT', 'Universal'],
    ...[
      'EST',
      'MST',
      'HST',
      'CET',
      'WET',
      'EST5EDT',
      'PST8PDT',
      'ROC',
      'PRC',
      'GB',
      'GB-Eire',
      'NZ',
      'NZ-CHAT',
      'W-SU',
    ],
    ...[
      'US/Eastern',
      'US/Pacific',
      'Canada/Atlantic',
      'Asia/Calcutta',
      'Asia/Kolkata',
      'Asia/Saigon',
      'Asia/Ho_Chi_Minh',
    ],
    ...['Europe/Kiev', 'Europe/Kyiv', 'America/Buenos_Aires', 'America/Argentina/Buenos_Aires', 'America/Indianapolis'],
    ...['America/Port-au-Prince', 'Africa/Asmera', 'Africa/Asmara', 'Pacific/Ponape', 'Antarctica/DumontDUrville'],
  ];
  const names = [...new Set([...Intl.supportedValuesOf('timeZone'), ...links])];

  test('every zone that the runtime lists is valid, and so are links, which it does not list', () => {
    expect(names.length).toBeGreaterThan(400);
    expect(names.filter((name) => !accepts(TimeZone, name))).toEqual([]);
  });

  test('neither zones nor links are valid in another letter case', () => {
    const others = names.flatMap((name) => {
      const title = name.replace(/[A-Za-z]+/g, (word) => `${word.charAt(0)}${word.slice(1).toLowerCase()}`);
      const last = name.replace(/[A-Za-z](?=[^A-Za-z]*$)/, (c) => (c < 'a' ? c.toLowerCase() : c.toUpperCase()));
      return [name.toLowerCase(), name.toUpperCase(), title, last].filter((other) => other !== name);
    });
    expect(others.length).toBeGreaterThan(names.length * 2);
    expect(others.filter((other) => accepts(TimeZone, other) && !names.includes(other))).toEqual([]);
  });

  test('every valid name is a zone for Temporal, under the same name', () => {
    const pieces = [
      ...names.flatMap((name) => name.split('/')),
      '/',
      '/',
      '+',
      '-',
      '0',
      '5',
      ' ',
      'Z',
      '[UTC]',
      'u-ca=',
    ];
    const isZone = (name: string) =>
      expect(Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId).toBe(name);
    for (const name of names) isZone(name);
    const made = fc.string({ unit: fc.constantFrom(...pieces), minLength: 1, maxLength: 4 });
    let passed = 0;
    const property = fc.property(made, (name) => {
      if (!accepts(TimeZone, name)) return;
      passed++;
      isZone(name);
    });
    fc.assert(property, { numRuns: 20_000 });
    expect(passed).toBeGreaterThan(0);
  });

  test.each([
    ...['', ' ', ' UTC', 'Europe/Zurich ', 'Europe/ Zurich', 'Europe/Zurich\n', 'UTC\0'],
    ...['+01:00', '-0530', 'UTC+1', 'UTC+01:00', 'GMT+5', 'Etc/GMT+13', 'Z', '2026-03-01T00:00Z[Europe/Zurich]'],
    ...[
      'Europe/Nowhere',
      'Europe/Atlantis',
      'Europe',
      'CET/',
      '/UTC',
      '../UTC',
      'Europe//Zurich',
      'Zürich',
      'Etc/Unknown',
    ],
    ...['Factory', 'localtime', 'posixrules'],
    // Only known to ICU.
    ...['PST', 'IST', 'JST', 'BST', 'ACT', 'SystemV/AST4', 'US/Pacific-New', 'Canada/East-Saskatchewan'],
    'x'.repeat(65),
  ])('%j is none', (name) => {
    expect(accepts(TimeZone, name)).toBe(false);
  });
});

describe('comma-joined values', () => {
  const Colours = CommaSeparated(z.enum(['red', 'green', 'blue']), 3);

  test('one value or several become a list, in their order', () => {
    expect(Colours.parse('blue')).toEqual(['blue']);
    expect(Colours.parse('blue,red')).toEqual(['blue', 'red']);
  });

  test.each(['', ',', 'red,', ',red', 'red,,blue', 'red, blue', 'red;blue', 'mauve'])('%j is refused', (joined) => {
    expect(accepts(Colours, joined)).toBe(false);
  });

  test('the limit is accepted, and one more is refused with the number', () => {
    expect(Colours.parse('red,red,red')).toHaveLength(3);
    expect(Colours.safeParse('red,red,red,red').error?.issues[0]?.message).toBe('must have at most 3 values');
  });

  test('empty values are refused, also of free text', () => {
    const Words = CommaSeparated(z.string());
    expect(Words.parse('a,b')).toEqual(['a', 'b']);
    expect(Words.safeParse('a,,b').error?.issues[0]?.message).toBe('must not have empty values');
  });

  test('each value is validated: an id of another kind is refused', () => {
    const Groups = CommaSeparated(id('group'));
    expect(accepts(Groups, [newId('group'), newId('group')].join(','))).toBe(true);
    expect(accepts(Groups, [newId('group'), newId('zone')].join(','))).toBe(false);
  });
});

test('a name has at most the given number of characters, including spaces around it, and at least one when it is trimmed', () => {
  expect(Name(5).parse(' abc ')).toBe('abc');
  expect(accepts(Name(4), ' abc ')).toBe(false);
  expect(Name(3).safeParse('abcd').error?.issues[0]?.message).toBe('must have at most 3 characters');
  for (const empty of ['', '   ', '\t\n']) {
    expect(Name(3).safeParse(empty).error?.issues[0]?.message).toBe('must not be empty');
  }
});

test('free text is unchanged, up to the given number of characters', () => {
  expect(Text(4).parse(' a\n ')).toBe(' a\n ');
  expect(accepts(Text(4), 'abcde')).toBe(false);
});

test.each([1.5, '1', null, Number.NaN, 2 ** 53])(
  'numbers of things, cents and tokens are whole numbers, which %s is not',
  (value) => {
    for (const schema of [Count, Cents, Tokens]) expect(accepts(schema, value)).toBe(false);
  },
);

test('cents and tokens may be negative, a count may not', () => {
  expect(accepts(Cents, -1)).toBe(true);
  expect(accepts(Tokens, -1)).toBe(true);
  expect(accepts(Count, -1)).toBe(false);
  expect(accepts(Count, 0)).toBe(true);
});

test('an object of any fields is not a list, null or a string', () => {
  expect(JsonObject().parse({ a: [1] })).toEqual({ a: [1] });
  for (const value of [[], null, '{}', 1]) expect(accepts(JsonObject(), value)).toBe(false);
});

test('a field that cannot be changed is refused by name, even as null, and may be left out', () => {
  const schema = z.object({ name: z.string(), ...unchangeable('type') });
  expect(schema.parse({ name: 'n' })).toEqual({ name: 'n' });
  for (const type of ['api', null, false]) {
    const [issue] = schema.safeParse({ name: 'n', type }).error?.issues ?? [];
    expect(issue).toMatchObject({ path: ['type'], message: 'cannot be changed here' });
  }
});

describe('names that are put into mail', () => {
  test.each([
    'A.P. Møller',
    'Booking B.V.',
    'Co. KG',
    'J.R.R. Tolkien',
    'Ph.D. Ada Lovelace',
    'S.p.A.',
    'Société à r.l.',
    'St. Gallen Tourismus',
    'No.1 Café',
    'Version 2.0',
    'AC/DC',
    'モーニング娘。',
    'Wwwest & Sons',
    'Time: 9/10',
    '...',
  ])('%s is one', (name) => {
    expect(MailedName().parse(name)).toBe(name);
  });

  test.each([
    'https://evil',
    'Click HTTP://10.0.0.1/x',
    'evil.com',
    'Your refund waits at Evil.Example/refund now',
    'x.com',
    '1.ly',
    'ada@evil.com',
    'www.evil',
    'WWW.1',
    'пример.рф',
    'उदाहरण.भारत',
    'evil.xn--p1ai',
    'evil．com',
    'evil。com',
    'evil｡com',
    'evil.\u200Bcom',
    'ev\u00ADil.c\u2060om',
    'Booking.com B.V.',
    'one\nline',
    'one\u2028line',
    '',
  ])('%j is refused', (name) => {
    expect(accepts(MailedName(), name)).toBe(false);
  });

  test('the error says what to write instead', () => {
    const { error } = MailedName().safeParse('Müller.KG');
    expect(error?.issues.map(({ message }) => message)).toEqual([
      'must hold no web address (a dot inside a name is followed by a space)',
    ]);
  });
});
