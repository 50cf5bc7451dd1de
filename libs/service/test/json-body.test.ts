import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type App, echoBody, invalid, json, problemOf, type Sent, startApp } from './support.ts';

let app: App;
beforeAll(async () => {
  app = await startApp([echoBody(z.looseObject({}))]);
});
afterAll(() => app.stop());

const post = (body?: string | Buffer, headers: Sent['headers'] = json, chunked = false) =>
  app.send('/v2/echo', { method: 'POST', headers, ...(body !== undefined && { body, chunked }) });
const echoed = async (...sent: Parameters<typeof post>) => {
  const { status, text } = await post(...sent);
  return { status, given: (JSON.parse(text) as { given?: unknown }).given };
};
const refused = async (...sent: Parameters<typeof post>) => problemOf(await post(...sent));

const limit = 1024 * 1024;
const ofSize = (bytes: number) => `{"text":"${'a'.repeat(bytes - 11)}"}`;

describe('JSON', () => {
  test('reaches the handler as it was sent', async () => {
    const body = { text: 'Zürich 🏬', number: -1.5e-3, list: [null, true, {}], '': 'no name' };
    expect(await echoed(JSON.stringify(body))).toEqual({ status: 200, given: body });
  });

  test.each([
    '{',
    '{"a":1,}',
    "{'a':1}",
    '{"a":NaN}',
    '{"a":01}',
    '{"a":"\n"}',
    '{} {}',
    ' ',
    '// {}',
    '{"a":undefined}',
  ])('400: %j is none', async (body) => {
    expect(await refused(body)).toEqual(invalid('body: is not valid JSON.'));
  });

  test('400: no body although one is required', async () => {
    expect(await refused()).toEqual(invalid('body: is required.'));
    expect(await refused('')).toEqual(invalid('body: is required.'));
  });

  test.each([
    ['[]', 'body: must be an object.'],
    ['null', 'body: must be an object, not null.'],
    ['5', 'body: must be an object, not 5.'],
    ['"a"', 'body: must be an object, not "a".'],
  ])('400: %s is no object', async (body, detail) => {
    expect(await refused(body)).toEqual(invalid(detail));
  });
});

describe('text', () => {
  test.each([
    ['an invalid byte', [0xff]],
    ['an incomplete character', [0xc3]],
    ['an overlong form', [0xc0, 0x80]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a code point beyond the last', [0xf4, 0x90, 0x80, 0x80]],
  ])('400: %s is not UTF-8', async (_what, bytes) => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
    expect(await refused(body)).toEqual(invalid('body: is not valid UTF-8.'));
  });

  test('400: UTF-16 is not UTF-8', async () => {
    expect((await refused(Buffer.from('\uFEFF{"a":1}', 'utf16le'))).status).toBe(400);
  });

  test.each([
    ['a NUL', '{"a":["x",{"b":"\\u0000"}]}', 'body.a[1].b: contains a NUL character.'],
    ['a NUL in a name', '{"a":{"\\u0000":1}}', 'a name in body.a: contains a NUL character.'],
    ['the first half of a pair', '{"a":"\\ud83d"}', 'body.a: contains half of a surrogate pair.'],
    ['the second half of a pair', '{"a":"\\udc00x"}', 'body.a: contains half of a surrogate pair.'],
    ['half a pair in a name', '{"\\ud83d":1}', 'a name in body: contains half of a surrogate pair.'],
  ])('400: %s is reported with its place', async (_what, body, detail) => {
    expect(await refused(body)).toEqual(invalid(detail));
  });

  test('an escaped, complete surrogate pair is valid', async () => {
    expect(await echoed('{"a":"\\ud83c\\udfec"}')).toEqual({ status: 200, given: { a: '🏬' } });
  });
});

describe('numbers', () => {
  test.each(['1e999', '-1e999', '1e400'])('400: %s is out of range', async (number) => {
    expect(await refused(`{"a":{"n":${number}}}`)).toEqual(invalid('body.a.n: is a number out of range.'));
  });

  test('the largest and the smallest numbers are accepted', async () => {
    expect(await echoed('{"a":1.7976931348623157e308,"b":5e-324}')).toEqual({
      status: 200,
      given: { a: Number.MAX_VALUE, b: 5e-324 },
    });
  });
});

describe('depth', () => {
  const lists = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

  test('32 levels of lists or objects are accepted', async () => {
    expect((await echoed(lists(31))).status).toBe(200);
    expect((await echoed(objects(32))).status).toBe(200);
  });

  test.each([
    ['33 levels of lists', lists(32)],
    ['33 levels of objects', objects(33)],
    ['200 000 levels of lists', lists(200_000)],
    ['150 000 levels of objects', objects(150_000)],
  ])('400: %s are refused', async (_what, body) => {
    const problem = await refused(body);
    expect(problem).toMatchObject({ status: 400, kind: 'validation-error' });
    expect(problem.detail).toMatch(/^body\.a.{0,100}: is nested deeper than 32 levels\.$/);
  });
});

describe('names', () => {
  test.each([
    ['{"__proto__":{"admin":true}}', 'body'],
    ['{"a":[{"b":{"__proto__":null}}]}', 'body.a[0].b'],
    ['{"\\u005f_proto__":1}', 'body'],
  ])('400: %s, which would set a prototype, is refused, and no prototype is changed', async (body, path) => {
    expect(await refused(body)).toEqual(invalid(`${path}: has a member named __proto__, which cannot be kept.`));
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  test('other names of inherited properties are ordinary names', async () => {
    const body = '{"constructor":{"prototype":{"admin":true}},"toString":1,"hasOwnProperty":null}';
    expect(await echoed(body)).toEqual({ status: 200, given: JSON.parse(body) as unknown });
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  test('400: the message about a fault below a very long name is short', async () => {
    const { status, detail } = await refused(JSON.stringify({ ['x'.repeat(500_000)]: '\0' }));
    expect(status).toBe(400);
    expect(detail.length).toBeLessThan(200);
  });
});

describe('size', () => {
  test('exactly 1 MiB is accepted, with a content length or without', async () => {
    for (const chunked of [false, true]) {
      const { status, given } = await echoed(ofSize(limit), json, chunked);
      expect(status).toBe(200);
      expect((given as { text: string }).text).toHaveLength(limit - 11);
    }
  });

  test('400: one byte more is refused, with a content length or without', async () => {
    for (const chunked of [false, true]) {
      expect(await refused(ofSize(limit + 1), json, chunked)).toEqual(invalid('body: is larger than 1048576 bytes.'));
    }
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('a body packed by %s is unpacked, to 1 MiB and no further', async (encoding, pack) => {
    const headers = { ...json, 'content-encoding': encoding };
    expect(await echoed(pack('{"a":1}'), headers)).toEqual({ status: 200, given: { a: 1 } });
    expect((await post(pack(ofSize(limit)), headers)).status).toBe(200);
    const bomb = pack(Buffer.alloc(64 * limit, ' '));
    expect(bomb.length).toBeLessThan(limit);
    expect(await refused(bomb, headers)).toEqual(invalid('body: is larger than 1048576 bytes.'));
  });

  test.each(['compress', 'gzip, gzip', 'identity, gzip', 'none'])(
    '400: the encoding %s is not supported',
    async (encoding) => {
      const headers = { ...json, 'content-encoding': encoding };
      expect(await refused('{"a":1}', headers)).toEqual(invalid('Content-Encoding: is not supported.'));
    },
  );

  test.each([
    ['truncated', gzipSync('{"a":1}').subarray(0, 15)],
    ['not compressed', Buffer.from('{"a":1}')],
  ])('400: a packed body that is %s cannot be read', async (_what, body) => {
    expect(await refused(body, { ...json, 'content-encoding': 'gzip' })).toEqual(invalid('body: could not be read.'));
  });
});
