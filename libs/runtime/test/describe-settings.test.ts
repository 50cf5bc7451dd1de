import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { describeSettings, setting } from '../src/index.ts';

const described = (field: z.ZodType) => describeSettings(z.object({ FIELD: field }))[0];

test('settings are described in the order of their declaration, with their descriptions', () => {
  const settings = describeSettings(
    z.object({
      PORT: setting.port.default(8080).meta({ description: 'Where it listens' }),
      DATABASE_URL: z.url().meta({ description: 'Its own database', secret: true, example: 'postgresql://a:b@c/d' }),
    }),
  );
  expect(settings).toEqual([
    { name: 'PORT', description: 'Where it listens', required: false, secret: false, default: '8080' },
    {
      name: 'DATABASE_URL',
      description: 'Its own database',
      required: true,
      secret: true,
      example: 'postgresql://a:b@c/d',
    },
  ]);
});

test('a default is described as it would be written into the environment', () => {
  expect(described(setting.flag.default(false))?.default).toBe('false');
  expect(described(setting.list.default(['loopback', '10.0.0.0/8']))?.default).toBe('loopback,10.0.0.0/8');
  expect(described(setting.count.pipe(z.int().min(4)).default(12))?.default).toBe('12');
});

test('an empty or missing default is left out', () => {
  for (const field of [setting.list.default([]), z.string().default(''), z.string().optional(), z.string()])
    expect(described(field)).not.toHaveProperty('default');
});

test('a default can be described in words', () => {
  expect(described(z.url().optional().meta({ fallback: 'its own port' }))).toMatchObject({
    required: false,
    default: 'its own port',
  });
});

test('a setting is required only if the process cannot start without it', () => {
  const required = (field: z.ZodType) => described(field)?.required;
  expect([required(setting.list), required(z.url().optional()), required(setting.count.default(1))]).toEqual([
    true,
    false,
    false,
  ]);
});

test('metadata before `.default()` applies, unless metadata after it overrides it', () => {
  const inner = z.string().meta({ description: 'inner', secret: true });
  expect(described(inner.default('x'))).toMatchObject({ description: 'inner', secret: true });
  expect(described(inner.default('x').meta({ description: 'outer' }))).toMatchObject({
    description: 'outer',
    secret: true,
  });
});

test('the values of a choice are listed', () => {
  expect(described(z.enum(['plain', 'fancy']).default('plain'))?.values).toEqual(['plain', 'fancy']);
  expect(described(z.string())).not.toHaveProperty('values');
});
