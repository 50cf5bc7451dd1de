import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import * as contracts from '../src/index.ts';
import { deviceEndpoints, endpoints, events, internalEndpoints, pathParameters, serviceNames } from '../src/index.ts';

const all = [...endpoints, ...internalEndpoints, ...deviceEndpoints];
const named = [...endpoints, ...deviceEndpoints]
  .filter(({ raw }) => !raw)
  .map((endpoint): [string, typeof endpoint] => [`${endpoint.method} ${endpoint.path}`, endpoint]);

/** Every exported endpoint, recognized by its fields. */
const exported = Object.values<unknown>(contracts).filter(
  (value): value is contracts.Endpoint => typeof value === 'object' && value !== null && 'operation' in value,
);

test('the three catalogues contain every declared endpoint once', () => {
  const operations = (list: readonly contracts.Endpoint[]) => list.map(({ operation }) => operation).sort();
  expect(endpoints.length).toBeGreaterThan(20);
  expect(operations(all)).toEqual(operations(exported));
});

test('the catalogue of events contains every declared event, with unique types and versions', () => {
  const declared = [...Object.values<unknown>(contracts), ...Object.values(contracts.auditEvents)].filter(
    (value): value is contracts.EventType => typeof value === 'object' && value !== null && 'topic' in value,
  );
  expect(events.length).toBeGreaterThan(20);
  expect(new Set(events)).toEqual(new Set(declared));
  expect(new Set(events.map(({ type, version }) => `${type} ${version}`)).size).toBe(events.length);
});

test('a topic keeps its events for less time than inboxes keep their rows', () => {
  const remembered = 30;
  const segment = 1; // The segment that is being written is kept a day longer.
  for (const { topic } of events) expect(topic.retentionDays + segment).toBeLessThan(remembered);
});

test('only Internal endpoints are below /internal/ and require an internal token', () => {
  const internal = all.filter(({ path }) => path.startsWith('/internal/'));
  expect(new Set(internal)).toEqual(new Set(internalEndpoints));
  expect(new Set(all.filter(({ access }) => access.credential === 'internal'))).toEqual(new Set(internalEndpoints));
});

test('only endpoints for devices are below /v2/device/, and they alone have their credentials', () => {
  const below = all.filter(({ path }) => path.startsWith('/v2/device/'));
  expect(new Set(below)).toEqual(new Set(deviceEndpoints));
  const theirs = all.filter(({ access }) => access.credential === 'device' || access.credential === 'factory');
  expect(new Set(theirs)).toEqual(new Set(deviceEndpoints));
});

test('signed notifications are received as bytes, below /webhooks/, without a token', () => {
  const raw = all.filter((endpoint) => endpoint.raw);
  expect(new Set(all.filter(({ path }) => path.startsWith('/webhooks/')))).toEqual(new Set(raw));
  for (const { access, body } of raw) expect([access.credential, body]).toEqual(['none', undefined]);
});

test('operations are unique', () => {
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
  '%s returns either a body or a file',
  (_name, { success, stream }) => {
    expect([success.body, success.download, stream === 'sent'].filter(Boolean)).toHaveLength(1);
  },
);

test.each(where(({ success }) => success.status === 204))(
  '%s returns neither a body nor a file',
  (_name, { success }) => {
    expect([success.body, success.download]).toEqual([undefined, undefined]);
  },
);

test.each(where(({ method }) => method === 'GET' || method === 'DELETE'))(
  '%s accepts neither a body nor a file',
  (_name, { body, upload }) => {
    expect([body, upload]).toEqual([undefined, undefined]);
  },
);

test.each(where(({ upload }) => upload !== undefined))(
  '%s accepts a file instead of a body, with media types in lower case and an example of each',
  (_name, { body, upload }) => {
    expect(body).toBeUndefined();
    for (const media of upload?.media ?? []) expect(media).toMatch(/^[a-z]+\/[a-z0-9.+-]+$/);
    expect(Object.keys(upload?.example ?? {})).toEqual(upload?.media);
  },
);

test.each(where(({ success }) => success.download !== undefined))(
  '%s, which returns a file, is a GET',
  (_name, { method }) => {
    expect(method).toBe('GET');
  },
);

test.each(where(({ success }) => success.status === 201))(
  '%s returns the id, or the secret, of what it makes',
  (_name, { success }) => {
    const { shape } = success.body as unknown as z.ZodObject;
    expect(Object.keys(shape).filter((field) => field === 'id' || field === 'client_secret')).not.toEqual([]);
  },
);

/** Decision 27: these paths are closed to the tokens of API keys, also for reading. */
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

/** The first contacts of a device, which its key from the factory signs. */
const signed = ['/v2/device/challenges', '/v2/device/bootstrap'];

test('only first contacts are signed by the key from the factory', () => {
  const factory = deviceEndpoints.filter(({ access }) => access.credential === 'factory');
  expect(factory.map(({ path }) => path).toSorted()).toEqual(signed.toSorted());
});

/** Their URLs are signed, and are the credential. */
const ticketed = ['/v2/media-uploads', '/v2/media-files'];

test('only the bytes of media go by signed URLs', () => {
  expect(endpoints.filter(({ stream }) => stream).map(({ path }) => path)).toEqual(ticketed);
});

test.each(named)('%s requires a token unless it is one of the credential endpoints', (_name, { access, path }) => {
  if (ticketed.includes(path)) expect(access.credential).toBe('none');
  else if (access.credential === 'none' || access.credential === 'optional') expect(tokenless).toContain(path);
  else expect(tokenless).not.toContain(path);
});

test.each(named.filter(([, { service }]) => service === 'billing'))('%s needs billing access', (_name, { access }) => {
  expect(access).toMatchObject({ billing: true });
});
