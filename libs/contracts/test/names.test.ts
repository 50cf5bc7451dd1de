import { expect, test } from '@jest/globals';
import { z } from 'zod';
import * as contracts from '../src/index.ts';

/** The names of all fields in a schema, including those within lists, unions and maps with fixed keys. */
function fieldNames(schema: z.ZodType): string[] {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties, propertyNames, ...rest } = node as Record<string, object | undefined>;
    for (const [name, field] of Object.entries(properties ?? {})) {
      names.add(name);
      visit(field);
    }
    for (const name of (propertyNames as { enum?: string[] } | undefined)?.enum ?? []) names.add(name);
    for (const part of Object.values(rest)) visit(part);
  };
  for (const io of ['input', 'output'] as const) visit(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  return [...names];
}

const snakeCase = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

test('the walk itself finds names at every depth', () => {
  const schema = z.object({
    a: z.array(z.object({ b: z.string().optional() })),
    c: z.union([z.object({ d: z.int() }), z.null()]),
    e: z.partialRecord(z.enum(['f']), z.object({ g: z.int().default(1) })),
    h: z
      .object({ i: z.string().transform(Number) })
      .meta({ id: 'Shared' })
      .nullable(),
    j: z.record(z.string(), z.object({ k: z.int() })),
    properties: z.object({ l: z.int() }),
  });
  const found = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'properties'];
  expect(fieldNames(schema).sort()).toEqual(found);
  for (const bad of ['camelCase', 'Upper', 'with-dash', '_leading', 'trailing_', 'two__lines'])
    expect(bad).not.toMatch(snakeCase);
});

/** In a map of services to rights, all of them (spec §5.5, decision 32). */
const everyService = '*';

const parts = [...contracts.endpoints, ...contracts.internalEndpoints, ...contracts.deviceEndpoints].flatMap(
  (endpoint) => {
    const { params, query, body, success } = endpoint;
    const schemas = { params, query, body, answer: success.body };
    const given = Object.entries(schemas).filter((entry): entry is [string, z.ZodType] => entry[1] !== undefined);
    return given.map(([part, schema]): [string, string, z.ZodType] => [
      `${endpoint.method} ${endpoint.path}`,
      part,
      schema,
    ]);
  },
);

test.each(parts)('%s: every field of its %s is snake_case', (_name, _part, schema) => {
  for (const name of fieldNames(schema).filter((name) => name !== everyService)) expect(name).toMatch(snakeCase);
});

test('a problem has the four fields of the specification', () => {
  expect(fieldNames(contracts.ProblemDetails)).toEqual(['type', 'title', 'status', 'detail']);
});

const events = Object.values<unknown>(contracts).filter(
  (value): value is contracts.EventType => typeof value === 'object' && value !== null && 'topic' in value,
);

test.each(events.map((type): [string, contracts.EventType] => [type.type, type]))(
  'the event %s: its fields are snake_case, its topic is one of its owner’s',
  (_name, type) => {
    expect(type.type).toMatch(/^[a-z_]+\.[a-z_]+$/);
    expect(type.topic.name).toMatch(new RegExp(`^${type.topic.owner}\\.[a-z]+$`));
    for (const name of fieldNames(type.data)) expect(name).toMatch(snakeCase);
  },
);

test('the envelope of events is snake_case, and no two events have one type', () => {
  for (const name of fieldNames(contracts.Envelope)) expect(name).toMatch(snakeCase);
  expect(events.length).toBeGreaterThan(5);
  expect(new Set(events.map(({ type }) => type)).size).toBe(events.length);
});
