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

/** Creating and changing have the same rules for the same fields. */
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
  ])('%p are kept exactly', (fields) => expectKept(fields));

  test.each<[object, string]>([
    [{ latitude: 90.000_001 }, 'body.latitude: must be at most 90, not 90.000001.'],
    [{ latitude: -91 }, 'body.latitude: must be at least -90, not -91.'],
    [{ longitude: 180.1 }, 'body.longitude: must be at most 180, not 180.1.'],
    [{ longitude: -180.1 }, 'body.longitude: must be at least -180, not -180.1.'],
    [{ latitude: '47' }, 'body.latitude: must be a number, not "47".'],
    [{ longitude: true }, 'body.longitude: must be a number, not true.'],
  ])('400: %p is refused by name', (fields, detail) => expectRefused(fields, detail));

  test('400: one without the other is refused by name, on creation and if a change would leave it alone', async () => {
    await tenant.owner.call(updateLocation, {
      params: { id: locationId },
      body: { latitude: null, longitude: null },
    });
    for (const [given, missing] of [
      ['latitude', 'longitude'],
      ['longitude', 'latitude'],
    ] as const) {
      const half = await give({ [given]: 1 });
      expect(half.created.problem?.detail).toBe(`body.${missing}: must be given with ${given}.`);
      expect(half.changed.problem?.detail).toBe(`body.${missing}: must be given with ${given}.`);
    }
    await expectKept({ latitude: 1, longitude: 2 });
    const moved = await tenant.owner.call(updateLocation, { params: { id: locationId }, body: { latitude: 3 } });
    expect(moved.body).toMatchObject({ latitude: 3, longitude: 2 });
    const cleared = await tenant.owner.call(updateLocation, { params: { id: locationId }, body: { latitude: null } });
    expect(cleared.problem?.detail).toBe('body.latitude: must be given with longitude.');
  });
});

describe('opening hours', () => {
  const span = (opens: string, closes: string) => ({ opens, closes });

  test.each<[string, object]>([
    ['no day at all', {}],
    ['a closed day', { sun: [] }],
    ['a whole day', { mon: [span('00:00', '24:00')] }],
    ['a span past midnight', { sat: [span('18:00', '02:00')], sun: [span('02:00', '04:00')] }],
    ['a span past the midnight of the week', { sun: [span('22:00', '02:00')], mon: [span('02:00', '05:00')] }],
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
    [
      { mon: [span('09:00', '09:00')] },
      'body.opening_hours.mon[0].closes: must differ from opens (a whole day is 00:00 to 24:00), not "09:00".',
    ],
    [
      { mon: [span('08:00', '09:00'), span('22:00', '02:00')], tue: [span('01:59', '05:00')] },
      'body.opening_hours.tue[0].opens: must not overlap the last span of mon, not "01:59".',
    ],
    [
      { sun: [span('22:00', '02:00')], mon: [span('01:59', '05:00')] },
      'body.opening_hours.mon[0].opens: must not overlap the last span of sun, not "01:59".',
    ],
    [
      { mon: [span('10:00', '12:00'), span('11:59', '13:00')] },
      'body.opening_hours.mon[1].opens: must not overlap the span before it, not "11:59".',
    ],
    [
      { mon: [span('10:00', '12:00'), span('08:00', '09:00')] },
      'body.opening_hours.mon[1].opens: must be later than the span before it, not "08:00".',
    ],
    [
      { mon: [span('10:00', '12:00'), span('12:00', '13:00')] },
      'body.opening_hours.mon[1].opens: must be after the span before it closes, not "12:00".',
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

  test('400: five spans a day, a list instead of days, or an unknown day', async () => {
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

test.each(['zoo', 'grocery', 'RETAIL', 'retail.', ''])(
  '400: %p is no venue type, and is refused by name',
  (venue_type) =>
    expectRefused(
      { venue_type },
      `body.venue_type: must be a venue type of OpenOOH 1.1, such as retail.grocery, not "${venue_type}".`,
    ),
);

test.each(['retail', 'retail.grocery', 'transit.airports.gates', 'residential.apartment_buildings.lobby'])(
  'a venue type of any depth is kept, with its taxonomy: %s',
  (venue_type) => expectKept({ venue_type, venue_taxonomy: 'openooh-1.1' }),
);
