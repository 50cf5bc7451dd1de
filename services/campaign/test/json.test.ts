import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, sendRaw, startCampaign } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

/** Sends requests as text, so that the test controls the exact bytes. */
function newSender() {
  const tenant = newTenant(service);
  const token = personToken({ account: tenant.account });
  return {
    tenant,
    post: (body: string) => sendRaw(service, 'POST', '/v2/campaigns', token, body),
    patch: (id: string, body: string) => sendRaw(service, 'PATCH', `/v2/campaigns/${id}`, token, body),
    get: (id: string) => sendRaw(service, 'GET', `/v2/campaigns/${id}`, token),
  };
}

interface Free {
  readonly id: string;
  readonly metadata: unknown;
  readonly brief: unknown;
}
const parse = (text: string) => JSON.parse(text) as Free;

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('JSON values from a user interface', () => {
  test.each(['metadata', 'brief'])('422: have at most 32 KiB: %s', async (field) => {
    const { post, patch } = newSender();
    const body = (bytes: number, name = 'a') => `{"name":"x","${field}":{"${name}":"${'ü'.repeat(bytes / 2)}"}}`;
    const refused = await post(body(33_000));
    expect(refused).toMatchObject({ status: 422, text: expect.stringContaining(`body.${field}`) });
    expect(refused.text).toContain('at most 32768');
    const created = await post(body(32_000));
    expect(created.status).toBe(201);
    const { id } = parse(created.text);
    expect((await patch(id, `{"${field}":{"a":"${'x'.repeat(33_000)}"}}`)).status).toBe(422);
    expect((await patch(id, '{"priority":3}')).status).toBe(200);
    // Fields of the brief are merged, so the whole counts.
    const added = await patch(id, `{"${field}":{"b":"${'x'.repeat(2_000)}"}}`);
    expect(added.status).toBe(field === 'brief' ? 422 : 200);
  });

  test.each<[string, string]>([
    ['unicode', '{"Grüße 東京":"👩‍👩‍👧 \\u2028 \\u00e9 e\\u0301 \\ufffd","":"empty name","a.b":"dot","a b":"blank"}'],
    ['escapes', '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001","<script>":"</script>"}'],
    ['numbers', '{"n":[0,1,-1,0.1,1e21,1e-7,5e-324,1.7976931348623157e308,9007199254740991,123456789.125]}'],
    ['nesting', '{"a":[[],[[]],{},[{"b":[null,true,false,{"c":{}}]}]]}'],
    ['thirty-two levels with the body', nested(31)],
    ['names that JavaScript knows', '{"constructor":1,"toString":"x","hasOwnProperty":null,"valueOf":[],"length":3}'],
    ['names that databases know', '{"$type":"Json","value":"{}","$ref":1,"set":{"x":1},"increment":1,"$1":"%s"}'],
    ['text that looks like something else', '{"a":"null","b":"2026-01-01","c":"1e999","d":"{}"}'],
  ])('comes back exactly as it was given, in metadata and in the brief: %s', async (_, json) => {
    const { post, patch, get } = newSender();
    const given = JSON.parse(json) as object;
    const created = await post(`{"name":"x","metadata":${json},"brief":${json}}`);
    expect(created.status).toBe(201);
    const { id, metadata, brief } = parse(created.text);
    expect(metadata).toEqual(given);
    expect(brief).toEqual({ version: 1, product: null, objective: null, outcome: null, ...given });
    expect(parse((await get(id)).text)).toMatchObject({ metadata, brief });

    const other = parse((await post('{"name":"y","metadata":{"old":1}}')).text);
    const patched = parse((await patch(other.id, `{"metadata":${json},"brief":${json}}`)).text);
    expect(patched.metadata).toEqual(given);
    expect(patched.brief).toEqual(brief);
  });

  test('are not dropped because of their names: a name that cannot be stored is refused', async () => {
    const { post } = newSender();
    for (const field of ['metadata', 'brief']) {
      for (const json of ['{"__proto__":{"polluted":1}}', '{"deep":{"__proto__":{"polluted":1}}}']) {
        const answer = await post(`{"name":"x","${field}":${json}}`);
        if (answer.status === 400) expect(answer.text).toContain('__proto__');
        else expect(answer.text).toContain('"__proto__":{"polluted":1}');
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('values that no field accepts', () => {
  const refused: [string, string, string][] = [
    ['a NUL in a value', '{"metadata":{"a":["x","b\\u0000"]}}', 'body.metadata.a[1]: contains a NUL character.'],
    ['a NUL in a name', '{"metadata":{"a":{"b\\u0000":1}}}', 'a name in body.metadata.a: contains a NUL character.'],
    ['a NUL in the brief', '{"brief":{"product":"\\u0000"}}', 'body.brief.product: contains a NUL character.'],
    [
      'the first half of a surrogate pair',
      '{"metadata":{"a":"\\ud83d"}}',
      'body.metadata.a: contains half of a surrogate pair.',
    ],
    ['the second half of one', '{"brief":{"tone":"\\ude00x"}}', 'body.brief.tone: contains half of a surrogate pair.'],
    [
      'half of one in a name',
      '{"metadata":{"\\udc00":1}}',
      'a name in body.metadata: contains half of a surrogate pair.',
    ],
    ['a number out of range', '{"metadata":{"a":[{"b":1e999}]}}', 'body.metadata.a[0].b: is a number out of range.'],
    ['a negative one', '{"brief":{"a":-1e999}}', 'body.brief.a: is a number out of range.'],
    ['one where a number belongs', '{"priority":1e999}', 'body.priority: is a number out of range.'],
    [
      'thirty-three levels with the body',
      `{"metadata":${nested(32)}}`,
      `body.metadata${'.a'.repeat(31)}: is nested deeper than 32 levels.`,
    ],
    [
      'thirty-three levels of lists',
      `{"brief":{"a":${'['.repeat(31)}${']'.repeat(31)}}}`,
      'is nested deeper than 32 levels.',
    ],
    ['JSON cut short', '{"metadata":{"a":', 'body: is not valid JSON.'],
  ];

  test.each(refused)('400: %s is refused with its path, and nothing is created', async (_, json, detail) => {
    const { tenant, post } = newSender();
    const answer = await post(json.replace('{', '{"name":"x",'));
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      type: expect.stringMatching(/\/validation-error$/),
      detail: expect.stringContaining(detail),
    });
    expect(await tenant.count()).toBe(0);
    expect(await tenant.events()).toEqual([]);
  });

  test.each(refused)('400: %s is refused with its path, and nothing is changed', async (_, json, detail) => {
    const { tenant, patch, get } = newSender();
    const { id } = await tenant.campaign({ metadata: { kept: true }, brief: { kept: true } });
    const before = (await get(id)).text;
    const answer = await patch(id, json.replace('{', '{"name":"changed",'));
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(detail)]);
    expect((await get(id)).text).toBe(before);
  });
});
