import { createLocation } from '@attribution/contracts';
import { startTestService, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import organization from '../src/index.ts';
import { newTenant } from './support.ts';
import { startUtilities } from './support-utilities.ts';

let service: TestService;
let utilities: Awaited<ReturnType<typeof startUtilities>>;
beforeAll(async () => {
  utilities = await startUtilities();
  service = await startTestService(organization, { environment: { UTILITIES_URL: utilities.url } });
});
afterAll(async () => {
  await service.stop();
  utilities.stop();
});

const sydney = { latitude: -33.8688, longitude: 151.2093 };

test('201: a location with coordinates and no time zone gets the zone of its coordinates', async () => {
  const tenant = newTenant(service);
  const body = { group_id: (await tenant.group()).id, name: 'Harbour', ...sydney };
  const created = await tenant.owner.call(createLocation, { body });
  expect([created.status, created.body.timezone]).toEqual([201, 'Australia/Sydney']);
  const path = '/internal/v2/timezone?latitude=-33.86880000&longitude=151.20930000';
  expect(utilities.asked).toEqual([`organization ${path}`]);
  expect((await tenant.events()).at(-1)?.data).toMatchObject({ location: { timezone: 'Australia/Sydney' } });
});

test('201: a time zone that is given is kept, and nobody is asked', async () => {
  const tenant = newTenant(service);
  const before = utilities.asked.length;
  const body = { group_id: (await tenant.group()).id, name: 'Harbour', timezone: 'UTC', ...sydney };
  expect((await tenant.owner.call(createLocation, { body })).body.timezone).toBe('UTC');
  expect(utilities.asked.length).toBe(before);
});

test('400: without coordinates the time zone is required', async () => {
  const tenant = newTenant(service);
  const group_id = (await tenant.group()).id;
  for (const place of [{}, { latitude: null, longitude: null }]) {
    const { problem } = await tenant.owner.call(createLocation, { body: { group_id, name: 'Nowhere', ...place } });
    expect(problem).toMatchObject({ kind: 'validation-error', detail: 'body.timezone: is required.' });
  }
});

test('503: when Utilities does not say, nothing is created, and the same request works later', async () => {
  const tenant = newTenant(service);
  const body = { group_id: (await tenant.group()).id, name: 'Harbour', ...sydney };
  const headers = { 'idempotency-key': 'once' };
  for (const answer of [
    { status: 503, body: {} },
    { status: 200, body: { surprise: true } },
  ]) {
    utilities.answer = answer;
    const refused = await tenant.owner.call(createLocation, { body, headers });
    expect(refused.problem).toMatchObject({ kind: 'unavailable', detail: expect.stringMatching(/^body\.timezone: /) });
    expect(refused.headers.get('retry-after')).toBe('5');
  }
  const { rows } = await service.db.query('SELECT id FROM locations WHERE account_id = $1', [tenant.account]);
  expect(rows).toEqual([]);
  utilities.answer = { status: 200, body: { timezone: 'Australia/Sydney' } };
  expect((await tenant.owner.call(createLocation, { body, headers })).status).toBe(201);
});
