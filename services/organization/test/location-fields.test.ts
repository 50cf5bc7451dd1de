import { createLocation, updateLocation } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';

let service: TestService;
let tenant: ReturnType<typeof newTenant>;
let groupId: string;
let locationId: string;
beforeAll(async () => {
  service = await startOrganization();
  tenant = newTenant(service);
  groupId = (await tenant.group()).id;
  locationId = (await tenant.location(groupId)).id;
});
afterAll(() => service.stop());

/** What creating and changing say of the same fields: the rules are one. */
async function give(fields: object) {
  const created = await tenant.owner.call(createLocation, {
    body: { group_id: groupId, name: 'x', timezone: 'UTC', ...fields } as never,
  });
  const changed = await tenant.owner.call(updateLocation, { params: { id: locationId }, body: fields });
  return { created, changed };
}

async function expectKept(fields: object) {
  const { created, changed } = await give(fields);
  expect(created.body).toMatchObject(fields);
  expect(changed.body).toMatchObject(fields);
}

async function expectRefused(fields: object, detail: string) {
  const { created, changed } = await give(fields);
  expect(created.problem).toMatchObject({ kind: 'validation-error', detail });
  expect(changed.problem).toMatchObject({ kind: 'validation-error', detail });
}

describe('time zone', () => {
  test.each([
    'Europe/Zurich',
    'America/Argentina/Buenos_Aires',
    'America/Port-au-Prince',
    'Etc/GMT+5',
    'UTC',
    'Asia/Calcutta',
    'US/Pacific',
    'GMT',
  ])('%s, a name or a link of the IANA database, is kept as it is given', (timezone) => expectKept({ timezone }));

  test.each([
    '+01:00',
    '-0530',
    'UTC+1',
    'GMT+5',
    'Z',
    'Europe/Atlantis',
    'europe/zurich',
    'asia/calcutta',
    'utc',
    '',
    ' UTC',
    'Europe/Zurich/',
    '../UTC',
  ])('400: %p is no IANA time zone name', (timezone) =>
    expectRefused({ timezone }, `body.timezone: must be an IANA time zone name, not "${timezone}".`),
  );
});

describe('coordinates', () => {
  test.each([
    { latitude: 90, longitude: 180 },
    { latitude: -90, longitude: -180 },
    { latitude: 0, longitude: 0 },
    { latitude: 1e-7, longitude: 179.999_999_9 },
  ])('%p are kept to the digit', (fields) => expectKept(fields));

  test.each<[object, string]>([
    [{ latitude: 90.000_001 }, 'body.latitude: must be at most 90, not 90.000001.'],
    [{ latitude: -91 }, 'body.latitude: must be at least -90, not -91.'],
    [{ longitude: 180.1 }, 'body.longitude: must be at most 180, not 180.1.'],
    [{ longitude: -180.1 }, 'body.longitude: must be at least -180, not -180.1.'],
    [{ latitude: '47' }, 'body.latitude: must be a number, not "47".'],
    [{ longitude: true }, 'body.longitude: must be a number, not true.'],
  ])('400: %p is refused by name', (fields, detail) => expectRefused(fields, detail));
});

describe('opening hours', () => {
  const span = (opens: string, closes: string) => ({ opens, closes });

  test.each<[string, object]>([
    ['no day at all', {}],
    ['a closed day', { sun: [] }],
    ['a whole day', { mon: [span('00:00', '24:00')] }],
    [
      'four spans',
      { tue: [span('00:00', '01:00'), span('02:00', '03:00'), span('04:00', '05:00'), span('23:58', '23:59')] },
    ],
    [
      'every day',
      Object.fromEntries(
        ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [span('09:00', '18:30')]]),
      ),
    ],
  ])('%s is kept as it is given', (_, opening_hours) => expectKept({ opening_hours }));

  test.each<[object, string]>([
    [{ mon: [span('09:00', '09:00')] }, 'body.opening_hours.mon[0].closes: must close after it opens.'],
    [
      { mon: [span('08:00', '09:00'), span('22:00', '02:00')] },
      'body.opening_hours.mon[1].closes: must close after it opens.',
    ],
    [{ mon: [span('9:00', '18:00')] }, 'body.opening_hours.mon[0].opens: must be a time of day (HH:MM), not "9:00".'],
    [
      { mon: [span('09:00', '24:01')] },
      'body.opening_hours.mon[0].closes: must be a time of day (HH:MM), not "24:01".',
    ],
    [
      { mon: [span('09:00', '18:00:00')] },
      'body.opening_hours.mon[0].closes: must be a time of day (HH:MM), not "18:00:00".',
    ],
    [{ mon: [{ opens: '09:00' }] }, 'body.opening_hours.mon[0].closes: is required.'],
    [{ mon: null }, 'body.opening_hours.mon: must be an array, not null.'],
    [{ mon: span('09:00', '18:00') }, 'body.opening_hours.mon: must be an array.'],
  ])('400: %p is refused by name', (opening_hours, detail) => expectRefused({ opening_hours }, detail));

  test('400: five spans of a day, a list instead of days, or a day that is none', async () => {
    const five = Array.from({ length: 5 }, (_, hour) => span(`0${hour}:00`, `0${hour}:30`));
    for (const [opening_hours, named] of [
      [{ fri: five }, /^body\.opening_hours\.fri: .*4/],
      [[], /^body\.opening_hours: /],
      [{ monday: [] }, /^body\.opening_hours.*monday/],
    ] as const) {
      const { created, changed } = await give({ opening_hours });
      expect(created.problem).toMatchObject({ kind: 'validation-error', detail: expect.stringMatching(named) });
      expect(changed.problem?.detail).toBe(created.problem?.detail);
    }
  });
});

test.each<[object, string]>([
  [{ name: '' }, 'body.name: must not be empty, not "".'],
  [{ name: 'x'.repeat(201) }, 'body.name: must have at most 200 characters.'],
  [{ address: 'x'.repeat(501) }, 'body.address: must have at most 500 characters.'],
  [{ address: 8001 }, 'body.address: must be text, not 8001.'],
  [{ group_id: 'grp_1' }, 'body.group_id: must be a group id (grp_…), not "grp_1".'],
  [{ status: 'closed' }, 'body.status: must be one of active, inactive, not "closed".'],
])('400: %p is refused by name', (fields, detail) => expectRefused(fields, detail));

test('400: an unknown kind of venue is refused by name, with those there are', async () => {
  const { created } = await give({ venue_type: 'zoo' });
  expect(created.problem?.detail).toMatch(/^body\.venue_type: must be one of grocery, .*other, not "zoo"\.$/);
});
