import { Writable } from 'node:stream';
import { captureLogs, testServers } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../src/index.ts';

/** The fields as they are logged. */
function written(fields: object): Record<string, unknown> {
  const { logger, text } = captureLogs();
  logger.info(fields, 'message');
  return JSON.parse(text()) as Record<string, unknown>;
}

const secrets = [
  'password',
  'new_password',
  'code',
  'token',
  'access_token',
  'refresh_token',
  'challenge_token',
  'setup_token',
  'secret',
  'access_key_secret',
  'x-access-key-secret',
  'authorization',
  'Authorization',
  'cookie',
  'client_secret',
  'email',
  'Email',
];
const hidden = 'hunter2';

describe.each(secrets)('the field %s', (name) => {
  test('is never logged, at any depth, in objects or lists', () => {
    const secret = { [name]: hidden };
    for (const fields of [
      secret,
      { a: secret },
      { a: { b: secret } },
      { a: { b: { c: { d: secret } } } },
      { a: [secret] },
      { a: [[{ b: secret }]] },
    ]) {
      const line = written(fields);
      expect(JSON.stringify(line)).not.toContain(hidden);
      expect(JSON.stringify(line)).toContain(`"${name}":"[redacted]"`);
    }
  });

  test('is not logged in part if it is not a string', () => {
    expect(JSON.stringify(written({ [name]: { value: hidden } }))).not.toContain(hidden);
    expect(JSON.stringify(written({ a: { [name]: [hidden] } }))).not.toContain(hidden);
  });
});

test('other fields are logged unchanged, and so is a missing secret', () => {
  const fields = {
    code: null,
    user: { token: undefined, id: 'usr_1', at: new Date(0), sizes: [1, null, 'a'] },
    flag: true,
  };
  const user = { id: 'usr_1', at: '1970-01-01T00:00:00.000Z', sizes: [1, null, 'a'] };
  expect(written(fields)).toMatchObject({ code: null, user, flag: true, msg: 'message', service: 'test', level: 30 });
});

test('the caller’s object is not changed', () => {
  const fields = { user: { password: hidden } };
  written(fields);
  expect(fields).toEqual({ user: { password: hidden } });
});

test('values that are nested too deep, or circular, are cut off', () => {
  const circle: { next?: unknown; name: string } = { name: 'circle' };
  circle.next = circle;
  expect(JSON.stringify(written({ circle }))).toContain('"[nested deeper]"');
});

test('child loggers hide the same, and carry their name', () => {
  const { logger, text } = captureLogs();
  logger.child({ service: 'other' }).info({ a: { token: hidden } }, 'message');
  expect(text()).toContain('"service":"other"');
  expect(text()).not.toContain(hidden);
});

test('readable lines hide the same', () => {
  const lines: string[] = [];
  const destination = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) });
  createLogger({ name: 'test', level: 'info', destination }).info({ user: { password: hidden } }, 'message');
  expect(lines.join('')).toContain('message');
  expect(lines.join('')).not.toContain(hidden);
});

test('lines below the level are not written', () => {
  const lines: string[] = [];
  const destination = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) });
  const logger = createLogger({ name: 'test', level: 'warn', destination });
  logger.info('quiet');
  logger.warn('loud');
  expect(lines.join('')).toContain('loud');
  expect(lines.join('')).not.toContain('quiet');
});

describe('an error', () => {
  test('is logged with its name, message, code, frames and causes, in any field', () => {
    const cause = Object.assign(new RangeError('below'), { code: 'ELOW', secret: hidden });
    const error = Object.assign(new Error('above', { cause }), { code: 'EHIGH', parameters: [hidden], detail: hidden });
    const described = {
      type: 'Error',
      message: 'above',
      code: 'EHIGH',
      stack: expect.stringMatching(/^ +at /),
      cause: { type: 'RangeError', message: 'below', code: 'ELOW', stack: expect.any(String) },
    };
    for (const fields of [{ err: error }, { error }, { a: { b: [error] } }]) {
      const line = written(fields) as { err?: unknown; error?: unknown; a?: { b: unknown[] } };
      expect(line.err ?? line.error ?? line.a?.b[0]).toEqual(described);
      expect(JSON.stringify(line)).not.toContain(hidden);
    }
  });

  test('logged alone is described too', () => {
    expect(written(new Error('alone'))).toMatchObject({ err: { type: 'Error', message: 'alone' } });
  });

  test('of an aborted request keeps its message', () => {
    expect(written({ err: new DOMException('took too long', 'TimeoutError') })).toMatchObject({
      err: { type: 'TimeoutError', message: 'took too long' },
    });
  });

  test('of Prisma that shows the whole call is logged with its last paragraph only', () => {
    const message = `\nInvalid \`prisma.user.create()\` invocation:\n\n{\n  data: {\n    name: "${hidden}"\n  }\n}\n\nArgument \`id\`: Invalid value.`;
    const error = Object.assign(new Error(message), { name: 'PrismaClientValidationError' });
    const line = written({ err: error });
    expect(line).toMatchObject({
      err: { type: 'PrismaClientValidationError', message: 'Argument `id`: Invalid value.' },
    });
    expect(JSON.stringify(line)).not.toContain(hidden);
  });
});

describe('an error of the database', () => {
  let client: pg.Client;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: testServers.postgresUrl() });
    await client.connect();
    await client.query(`CREATE TEMPORARY TABLE people (id int PRIMARY KEY, email text CHECK (email <> '${hidden}'))`);
    await client.query(`INSERT INTO people VALUES (1, 'ada')`);
  });
  afterAll(() => client.end());

  test.each([
    ['a duplicate row', `INSERT INTO people VALUES (1, '${hidden}x')`, '23505'],
    ['a row that a check refuses', `INSERT INTO people VALUES (2, '${hidden}')`, '23514'],
    ['a missing value', `INSERT INTO people VALUES (NULL, '${hidden}x')`, '23502'],
  ])('about %s is logged with its code and constraint, without rows or values', async (_what, sql, code) => {
    const error: unknown = await client.query(sql).catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).toMatch(/hunter2|\(id\)=\(1\)/); // The driver’s own error contains the value.
    const line = written({ err: error });
    expect(line).toMatchObject({ err: { code, message: expect.stringContaining('people') } });
    expect(JSON.stringify(line)).not.toContain(hidden);
    expect(line.err).not.toHaveProperty('detail');
  });
});
