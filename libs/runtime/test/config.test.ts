import { generateKeySets, KeySet } from '@attribution/auth';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { processSettings, readConfig, setting } from '../src/index.ts';

const Settings = z.object({
  PORT: setting.port.default(8080),
  COUNT: setting.count.default(3),
  FLAG: setting.flag.default(false),
  LIST: setting.list.default([]),
  URL_OF_IT: z.url().optional(),
  PEPPER: z.string().min(32).optional(),
  KEYS: setting.json(KeySet).optional(),
});
const read = (environment: Record<string, string | undefined>) => readConfig(Settings, environment);

/** The message of the error. */
function refusal(environment: Record<string, string | undefined>): string {
  try {
    read(environment);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It was let pass');
}

test('unset and empty variables have their defaults, and unknown ones are dropped', () => {
  const defaults = { PORT: 8080, COUNT: 3, FLAG: false, LIST: [] };
  expect(read({})).toEqual(defaults);
  expect(read({ PORT: '', COUNT: undefined, LIST: '', FLAG: '', OTHER: 'x' })).toEqual(defaults);
});

test('values are parsed from their text', () => {
  const given = { PORT: '0', COUNT: '12', FLAG: 'true', LIST: ' a, b ,,c,', URL_OF_IT: 'https://example.com/x' };
  expect(read(given)).toEqual({
    PORT: 0,
    COUNT: 12,
    FLAG: true,
    LIST: ['a', 'b', 'c'],
    URL_OF_IT: 'https://example.com/x',
  });
});

test('JSON is parsed and validated by its schema', () => {
  const keys = generateKeySets('k1').public;
  expect(read({ KEYS: JSON.stringify(keys) }).KEYS).toEqual(keys);
});

test('a configuration is immutable', () => {
  const config = read({}) as { PORT: number };
  expect(() => {
    config.PORT = 1;
  }).toThrow(TypeError);
});

const hidden = 'hunter2-hunter2';
const rsa = JSON.stringify({ keys: [{ kty: 'RSA', kid: 'k', d: hidden }] });

describe('an invalid value', () => {
  test.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80a'],
    ['PORT', '8.5'],
    ['PORT', ' 80'],
    ['PORT', '0x50'],
    ['COUNT', '9'.repeat(400)],
    ['COUNT', 'many'],
    ['FLAG', 'yes'],
    ['FLAG', 'TRUE'],
    ['URL_OF_IT', hidden],
    ['PEPPER', hidden],
    ['KEYS', hidden],
    ['KEYS', '{}'],
    ['KEYS', rsa],
    ['KEYS', `[${JSON.stringify(hidden)}]`],
  ])('of %s is reported by its name, without the value: %s', (name, value) => {
    const message = refusal({ [name]: value });
    expect(message).toMatch(new RegExp(`^The configuration is not valid:\n {2}${name}[.\\w]*: .`));
    if (value.length > 5) expect(message).not.toContain(value);
    expect(message).not.toContain(hidden);
  });

  test('is reported together with all others', () => {
    const lines = refusal({ PORT: 'x', COUNT: 'y', FLAG: 'z' }).split('\n').slice(1);
    expect(lines.map((line) => line.trim().split(':')[0])).toEqual(['PORT', 'COUNT', 'FLAG']);
  });

  test('that is missing is reported too', () => {
    expect(() => readConfig(z.object({ DATABASE_URL: z.url() }), {})).toThrow(
      /^The configuration is not valid:\n {2}DATABASE_URL: /,
    );
  });
});

test('the settings of every process have safe defaults', () => {
  const { PROBLEM_BASE, ...rest } = readConfig(z.object(processSettings), {});
  expect(rest).toEqual({ NODE_ENV: 'development', LOG_LEVEL: 'info', HOST: '127.0.0.1', REQUIRE_TLS: false });
  expect(PROBLEM_BASE).toMatch(/^https:\/\/.*[^/]$/);
});
