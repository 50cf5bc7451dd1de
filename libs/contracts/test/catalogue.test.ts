import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import * as contracts from '../src/index.ts';
import { endpoints, events, internalEndpoints, pathParameters, serviceNames } from '../src/index.ts';

const all = [...endpoints, ...internalEndpoints];
const named = endpoints
  .filter(({ raw }) => !raw)
  .map((endpoint): [string, typeof endpoint] => [`${endpoint.method} ${endpoint.path}`, endpoint]);

/** Every endpoint that is exported, known by its fields. */
const exported = Object.values<unknown>(contracts).filter(
  (value): value is contracts.Endpoint => typeof value === 'object' && value !== null && 'operation' in value,
);

test('the two catalogues hold every endpoint that is declared, once', () => {
  const operations = (list: readonly contracts.Endpoint[]) => list.map(({ operation }) => operation).sort();
  expect(endpoints.length).toBeGreaterThan(20);
  expect(operations(all)).toEqual(operations(exported));
});

test('the catalogue of events holds every event that is declared, no two of one type and version', () => {
  const declared = Object.values<unknown>(contracts).filter(
    (value): value is contracts.EventType => typeof value === 'object' && value !== null && 'topic' in value,
  );
  expect(events.length).toBeGreaterThan(20);
  expect(new Set(events)).toEqual(new Set(declared));
  expect(new Set(events.map(({ type, version }) => `${type} ${version}`)).size).toBe(events.length);
});

test('a topic keeps its events for a shorter time than inboxes remember them', () => {
  const remembered = 30;
  const segment = 1; // What is being written is kept a day longer.
  for (const { topic } of events) expect(topic.retentionDays + segment).toBeLessThan(remembered);
});

test('internal endpoints, and they alone, are below /internal/ and ask for an internal token', () => {
  const internal = all.filter(({ path }) => path.startsWith('/internal/'));
  expect(new Set(internal)).toEqual(new Set(internalEndpoints));
  expect(new Set(all.filter(({ access }) => access.credential === 'internal'))).toEqual(new Set(internalEndpoints));
});

test('what others sign is taken as bytes, below /webhooks/, without a token', () => {
  const raw = all.filter((endpoint) => endpoint.raw);
  expect(new Set(all.filter(({ path }) => path.startsWith('/webhooks/')))).toEqual(new Set(raw));
  for (const { access, body } of raw) expect([access.credential, body]).toEqual(['none', undefined]);
});

test('no two endpoints have one operation', () => {
  const operations = all.map(({ operation }) => operation);
  expect(new Set(operations).size).toBe(operations.length);
});

describe.each(named)('%s', (_name, endpoint) => {
  test('has an operation in snake_case, a summary and a service of the platform', () => {
    expect(endpoint.operation).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(endpoint.summary).not.toBe('');
    expect(endpoint.success.description).not.toBe('');
    expect(serviceNames).toContain(endpoint.service);
  });

  test('has a path of plain lower-case segments and whole parameters in snake_case', () => {
    expect(endpoint.path).toMatch(/^\/v2(\/([a-z]+(-[a-z]+)*|\{[a-z]+(_[a-z]+)*\}))+$/);
  });

  test('has a schema for each parameter of its path, and no other', () => {
    expect(Object.keys(endpoint.params?.shape ?? {}).sort()).toEqual(pathParameters(endpoint.path).sort());
  });
});

const where = (holds: (endpoint: contracts.Endpoint) => boolean) => named.filter(([, endpoint]) => holds(endpoint));

test.each(where(({ success }) => success.status === 200 || success.status === 201))(
  '%s answers either a body or a file',
  (_name, { success }) => {
    expect([success.body, success.download].filter(Boolean)).toHaveLength(1);
  },
);

test.each(where(({ success }) => success.status === 204))(
  '%s answers neither a body nor a file',
  (_name, { success }) => {
    expect([success.body, success.download]).toEqual([undefined, undefined]);
  },
);

test.each(where(({ method }) => method === 'GET' || method === 'DELETE'))(
  '%s takes neither a body nor a file',
  (_name, { body, upload }) => {
    expect([body, upload]).toEqual([undefined, undefined]);
  },
);

test.each(where(({ upload }) => upload !== undefined))(
  '%s takes a file in place of a body, of media types in lower case, with a beginning of each',
  (_name, { body, upload }) => {
    expect(body).toBeUndefined();
    for (const media of upload?.media ?? []) expect(media).toMatch(/^[a-z]+\/[a-z0-9.+-]+$/);
    expect(Object.keys(upload?.example ?? {})).toEqual(upload?.media);
  },
);

test.each(where(({ success }) => success.download !== undefined))(
  '%s, which answers a file, is a GET',
  (_name, { method }) => {
    expect(method).toBe('GET');
  },
);

test.each(where(({ success }) => success.status === 201))(
  '%s answers the id, or the secret, of what it makes',
  (_name, { success }) => {
    const { shape } = success.body as unknown as z.ZodObject;
    expect(Object.keys(shape).filter((field) => field === 'id' || field === 'client_secret')).not.toEqual([]);
  },
);

/** Decision 27: an API key's token never enters here, reads included. */
const peoplesPaths = /^\/v2\/(users|invitations|api-keys|mfa)(\/|$)|^\/v2\/accounts\/switch$/;

test.each(named.filter(([, { path }]) => peoplesPaths.test(path)))('%s is closed to API keys', (_name, { access }) => {
  expect(access.credential).not.toBe('any');
});

/** Spec §1: the unauthenticated credential endpoints, the exchange of an MFA challenge (§4.1), and areas.md on set-up and acceptance. */
const tokenless = [
  '/v2/auth/signup',
  '/v2/auth/verify-email',
  '/v2/auth/verify-email/resend',
  '/v2/auth/login',
  '/v2/auth/refresh',
  '/v2/auth/forgot-password',
  '/v2/auth/reset-password',
  '/v2/auth/api-token',
  '/v2/mfa/challenge/verify',
  '/v2/mfa/setup',
  '/v2/mfa/setup/verify',
  '/v2/invitations/accept',
];

test.each(named)('%s asks for a token unless it is one of the credential endpoints', (_name, { access, path }) => {
  if (access.credential === 'none' || access.credential === 'optional') expect(tokenless).toContain(path);
  else expect(tokenless).not.toContain(path);
});

test.each(named.filter(([, { service }]) => service === 'billing'))('%s needs billing access', (_name, { access }) => {
  expect(access).toMatchObject({ billing: true });
});
