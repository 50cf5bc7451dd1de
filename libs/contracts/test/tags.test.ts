import { openApiDocument } from '@attribution/openapi';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { Tag, Tags, tagsFilter } from '../src/organization/tags.ts';

const messages = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues.map(({ message, path }) => [path.join('.'), message]);

/** Characters of many scripts, all kinds of white space, and characters with unusual normalizations. */
const characters = [
  ...' \t\n\u00A0\u2003\u3000\uFEFF\u200B-_.:,;/\\"\'&=+%#!?0123456789٣४３',
  ...'aZßẞİıIſŉǰΐΣσςᾈﬁﬀ㎏№①Ⅳ½²ªºĲǆǄÅé\u0301\u0300\u0338´¨ـאبगก漢カｶﾞ한\u1100\u1161𝐀𐐀𞤀😀ﷺ',
];

describe('a tag', () => {
  test.each([
    ['window', 'window'],
    ['Portrait', 'portrait'],
    ['  Shop  Window\t', 'shop-window'],
    ['Eye\u00A0Level', 'eye-level'],
    ['Ｗｉｎｄｏｗ', 'window'],
    ['Cafe\u0301', 'caf\u00E9'],
    ['ISTANBUL', 'istanbul'],
    ['ﬁsh', 'fish'],
    ['Straße', 'straße'],
    ['漢字', '漢字'],
    ['हिन्दी', 'हिन्दी'],
    ['٣', '٣'],
    ['v1.2:a_b-c', 'v1.2:a_b-c'],
    ['-', '-'],
  ])('%j becomes %j', (given, kept) => {
    expect(Tag.parse(given)).toBe(kept);
  });

  test.each(['a,b', ',', 'a，b', 'a/b', 'a;b', '#1', 'a&b', '50%', '😀', 'a\u200Bb', 'a\0b', '\uD800', '"a"', '½'])(
    '%j has a character that is none of a tag',
    (given) => {
      expect(messages(Tag, given)).toEqual([['', 'must have letters, digits and - _ . : only']]);
    },
  );

  test.each(['', ' ', '\u3000\n'])('%j is empty', (given) => {
    expect(messages(Tag, given)).toEqual([['', 'must not be empty']]);
  });

  test('50 characters of any script are valid, not counting spaces around them, and 51 are not', () => {
    for (const letter of ['a', 'é', '漢', '𐐨']) {
      expect(Tag.parse(`  ${letter.repeat(50)} `)).toBe(letter.repeat(50));
      expect(messages(Tag, letter.repeat(51))).toEqual([['', 'must have at most 50 characters']]);
    }
    // This character becomes 18.
    expect(messages(Tag, 'ﷺ'.repeat(3))).toEqual([['', 'must have at most 50 characters']]);
  });

  test.each([null, 5, ['a'], {}])('%j is not a string', (given) => {
    expect(Tag.safeParse(given).success).toBe(false);
  });

  test('a valid tag is unchanged when it is normalized again, in any letter case, and has no comma', () => {
    const text = fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength: 5 });
    let passed = 0;
    const property = fc.property(text, (given) => {
      const { data, success } = Tag.safeParse(given);
      if (!success) return;
      passed++;
      expect(Tag.parse(data)).toBe(data);
      expect(data).toMatch(/^[\p{L}\p{M}\p{Nd}_.:-]{1,50}$/u);
      expect(data).toBe(data.normalize('NFKC').toLowerCase());
      expect(Tag.parse(` ${given}\n`)).toBe(data);
    });
    fc.assert(property, { numRuns: 3000 });
    expect(passed).toBeGreaterThan(300);
  });

  test('so is a tag of any single character that normalization changes', () => {
    for (let code = 0; code < 0x30000; code++) {
      const text = String.fromCodePoint(code);
      if (text === text.normalize('NFKC').toLowerCase()) continue;
      const { data, success } = Tag.safeParse(text);
      if (success && Tag.safeParse(data).data !== data) throw new Error(code.toString(16));
    }
  });
});

describe('tags', () => {
  test('are normalized, each once, in the order of their code points', () => {
    expect(Tags.parse(['window', 'Portrait', ' WINDOW ', 'a', 'Z', '10', '9', 'ab'])).toEqual([
      ...['10', '9', 'a', 'ab', 'portrait', 'window', 'z'],
    ]);
    // U+FB50 is before U+10428, and after it by UTF-16.
    expect(Tags.parse(['𐐨', '\uA9CF', '𐐩', 'ꬰ'])).toEqual(['\uA9CF', 'ꬰ', '𐐨', '𐐩']);
    expect(Tags.parse([])).toEqual([]);
  });

  test('are sorted by their UTF-8 bytes, like in Postgres', () => {
    const letter = fc.constantFrom('a', 'b', 'é', '漢', '豈', 'ﷲ', '𐐨', '𐐩', '𞤢', '0');
    const tags = fc.array(fc.string({ unit: letter, minLength: 1, maxLength: 3 }), { maxLength: 5 });
    const property = fc.property(tags, (given) => {
      const kept = Tags.parse(given);
      expect(kept).toEqual([...kept].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
      expect(new Set(kept).size).toBe(kept.length);
      expect(Tags.parse(kept)).toEqual(kept);
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('50 are valid, 51 are not, and an invalid tag is reported with its place', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
    expect(Tags.parse(many(50))).toHaveLength(50);
    expect(messages(Tags, many(51))).toEqual([['', 'must have at most 50 values']]);
    expect(messages(Tags, ['a', 'b,c'])).toEqual([['1', 'must have letters, digits and - _ . : only']]);
  });
});

describe('the filter', () => {
  test('accepts comma-joined tags, normalized like the tags themselves', () => {
    expect(tagsFilter.parse('window,Portrait')).toEqual(['portrait', 'window']);
    expect(tagsFilter.parse('Shop Window, shop-window')).toEqual(['shop-window']);
  });

  test.each(['', ',', 'a,', ',a', 'a,,b', 'a, ,b', 'a，b', 'a/b', Array.from({ length: 51 }, () => 'a').join(',')])(
    '%j is refused',
    (given) => {
      expect(tagsFilter.safeParse(given).success).toBe(false);
    },
  );
});

test('the document describes tags as lists of strings, without the rules of normalization', () => {
  const { paths } = openApiDocument([
    {
      operation: 'tag_things',
      method: 'POST',
      path: '/v2/things',
      service: 'organization',
      summary: 'Tags',
      access: { credential: 'none' },
      query: z.object({ tags: tagsFilter.optional() }),
      body: z.object({ tags: Tags.default([]) }),
      success: { status: 200, description: 'It', body: z.object({ tags: Tags }) },
    },
  ]);
  const item = { type: 'string', minLength: 1, maxLength: 50 };
  const list = { type: 'array', items: item, maxItems: 50 };
  const { post } = JSON.parse(JSON.stringify(paths))['/v2/things'];
  expect(post.parameters).toMatchObject([{ name: 'tags', in: 'query', style: 'form', explode: false, schema: list }]);
  expect(post.parameters[0].schema.items.pattern).toBeUndefined();
  expect(post.requestBody.content['application/json'].schema.properties.tags).toMatchObject({ ...list, default: [] });
  expect(post.responses[200].content['application/json'].schema.properties.tags).toMatchObject(list);
});

test('a text that grows by normalization is checked before it', () => {
  const [issue] = Tag.safeParse('\uFDFA'.repeat(300_000)).error?.issues ?? [];
  expect(issue?.message).toBe('must have at most 50 characters');
});
