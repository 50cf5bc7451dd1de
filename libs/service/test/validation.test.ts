import { CalendarDate, Email, id, Name, unchangeable } from '@attribution/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type App, echoBody, invalid, json, problemOf, startApp } from './support.ts';

const Body = z.object({
  name: Name(10),
  email: Email.optional(),
  password: z.string().min(8).max(20).optional(),
  code: z
    .string()
    .regex(/^\d{6}$/, 'must be 6 digits')
    .optional(),
  refresh_token: z.string().max(5).optional(),
  client_secret: z.enum(['a', 'b']).optional(),
  nested: z.object({ new_password: z.int() }).optional(),
  tokens: z.array(z.int()).optional(),
  size: z.int().min(1).max(9).optional(),
  ratio: z.number().optional(),
  flag: z.boolean().optional(),
  kind: z.enum(['red', 'green']).optional(),
  fixed: z.literal('this').optional(),
  day: CalendarDate.optional(),
  group_id: id('group').nullable().optional(),
  tags: z.array(z.string()).max(2).optional(),
  hours: z.partialRecord(z.enum(['mon', 'tue']), z.array(z.object({ opens: z.string() }))).optional(),
  text: z.string().min(3).max(5).optional(),
  ...unchangeable('type'),
});

let app: App;
beforeAll(async () => {
  app = await startApp([echoBody(Body)]);
});
afterAll(() => app.stop());

const refused = async (fields: object) =>
  problemOf(
    await app.send('/v2/echo', { method: 'POST', headers: json, body: JSON.stringify({ name: 'n', ...fields }) }),
  );

test.each<[object, string]>([
  [{ name: undefined }, 'body.name: is required.'],
  [{ name: null }, 'body.name: must be text, not null.'],
  [{ name: 5 }, 'body.name: must be text, not 5.'],
  [{ name: '  ' }, 'body.name: must not be empty, not "  ".'],
  [{ name: 'much too long' }, 'body.name: must have at most 10 characters, not "much too long".'],
  [{ email: 'ada' }, 'body.email: must be an email address, not "ada".'],
  [{ size: '5' }, 'body.size: must be a number, not "5".'],
  [{ size: 5.5 }, 'body.size: must be a whole number, not 5.5.'],
  [{ size: 0 }, 'body.size: must be at least 1, not 0.'],
  [{ size: 10 }, 'body.size: must be at most 9, not 10.'],
  [{ ratio: '1' }, 'body.ratio: must be a number, not "1".'],
  [{ flag: 'true' }, 'body.flag: must be true or false, not "true".'],
  [{ kind: 'blue' }, 'body.kind: must be one of red, green, not "blue".'],
  [{ fixed: 'that' }, 'body.fixed: must be this, not "that".'],
  [{ day: '2026-02-30' }, 'body.day: must be a calendar date (YYYY-MM-DD), not "2026-02-30".'],
  [{ group_id: 'grp_1' }, 'body.group_id: must be a group id (grp_…), not "grp_1".'],
  [{ tags: 'a' }, 'body.tags: must be an array, not "a".'],
  [{ tags: ['a', 1] }, 'body.tags[1]: must be text, not 1.'],
  [{ tags: ['a', 'b', 'c'] }, 'body.tags: must have at most 2 values.'],
  [{ text: 'ab' }, 'body.text: must have at least 3 characters, not "ab".'],
  [{ hours: { mon: [{ opens: 9 }] } }, 'body.hours.mon[0].opens: must be text, not 9.'],
  [{ hours: { sun: [] } }, 'body.hours: has no field "sun".'],
  [{ nested: [] }, 'body.nested: must be an object.'],
  [{ type: 'api' }, 'body.type: cannot be changed here, not "api".'],
])('400: %j is reported with its place and value', async (fields, detail) => {
  expect(await refused(fields)).toEqual(invalid(detail));
});

test('400: only the first of many faults, in the contract’s order, is reported', async () => {
  const answer = await app.send('/v2/echo', {
    method: 'POST',
    headers: json,
    body: '{"text":"x","size":0,"email":"ada","name":""}',
  });
  expect(problemOf(answer)).toEqual(invalid('body.name: must not be empty, not "".'));
  expect(Object.keys(JSON.parse(answer.text) as object).sort()).toEqual(['detail', 'status', 'title', 'type']);
});

const hidden = 'hunter2';
test.each<[string, object]>([
  ['a password too short', { password: hidden }],
  ['a password that is a number', { password: 4_711_471_147_114_711 }],
  ['a code', { code: hidden }],
  ['a token', { refresh_token: hidden }],
  ['a secret', { client_secret: hidden }],
  ['a password further in', { nested: { new_password: hidden } }],
  ['a token in a list', { tokens: [hidden] }],
])('400: %s is named, and never said again', async (_what, fields) => {
  const problem = await refused(fields);
  const [name = ''] = Object.keys(fields);
  expect(problem).toMatchObject({ status: 400, kind: 'validation-error' });
  expect(problem.detail).toMatch(new RegExp(`^body\\.${name}`));
  expect(problem.detail).not.toContain(hidden);
  expect(problem.detail).not.toContain('4711');
});

test('400: a long value is not repeated, and a long name is abbreviated', async () => {
  expect(await refused({ name: 'n'.repeat(500) })).toEqual(invalid('body.name: must have at most 10 characters.'));
  const { detail } = await refused({ hours: { ['x'.repeat(100_000)]: [] } });
  expect(detail).toBe(`body.hours: has no field "${'x'.repeat(60)}".`);
});

test('refused input is not logged', async () => {
  await refused({ password: hidden, email: 'ada@example.com' });
  expect(app.logs.text()).not.toContain(hidden);
  expect(app.logs.text()).not.toContain('ada@example.com');
  expect(app.logs.text()).toContain('"operation":"probe"');
});
