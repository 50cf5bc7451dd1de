import {
  createLocation,
  deleteLocation,
  getLocation,
  type LocationChange,
  updateLocation,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { newTenant, sendRaw, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const everything = {
  name: 'Bahnhofstrasse 🏬',
  external_id: 'CH-0142',
  timezone: 'Europe/Zurich',
  address: 'Bahnhofstrasse 1\n8001 Zürich',
  latitude: 47.376_886_5,
  longitude: -8.541_694,
  venue_type: 'retail.grocery',
  opening_hours: {
    mon: [
      { opens: '09:00', closes: '12:30' },
      { opens: '13:30', closes: '24:00' },
    ],
    sun: [],
  },
  status: 'inactive',
} satisfies z.input<typeof LocationChange>;

/** The taxonomy that is returned with a venue type. */
const taxonomy = { venue_taxonomy: 'openooh-1.1' };

const nothing = {
  external_id: null,
  address: null,
  latitude: null,
  longitude: null,
  venue_type: null,
  opening_hours: null,
  status: 'active',
};

describe('create', () => {
  test('201: a location with only what is required has its defaults and nothing else, and can be read back', async () => {
    const tenant = newTenant(service);
    const group_id = (await tenant.group()).id;
    const body = { group_id, name: ' Corner ', timezone: 'Europe/Zurich' };
    const created = await tenant.owner.call(createLocation, { body });
    expect(created.status).toBe(201);
    const { id, created_at } = created.body;
    expect(id).toMatch(/^loc_/);
    expect(created.body).toEqual({
      id,
      ...body,
      name: 'Corner',
      ...nothing,
      venue_taxonomy: null,
      created_at,
      updated_at: created_at,
    });
    const read = await tenant.owner.call(getLocation, { params: { id } });
    expect(read.status).toBe(200);
    expect(read.body).toEqual(created.body);
  });

  test('201: every field is kept as it was given, unknown ones are ignored', async () => {
    const tenant = newTenant(service);
    const group_id = (await tenant.group()).id;
    const created = await tenant.owner.call(createLocation, { body: { group_id, ...everything, floor: 3 } as never });
    expect(created.status).toBe(201);
    const { id, created_at, updated_at } = created.body;
    expect(created.body).toEqual({ id, group_id, ...everything, ...taxonomy, created_at, updated_at });
    expect((await tenant.owner.call(getLocation, { params: { id } })).body).toEqual(created.body);
  });

  test('400: a missing required field is named, and nothing is created', async () => {
    const tenant = newTenant(service);
    const body = { group_id: (await tenant.group()).id, name: 'Corner', timezone: 'UTC' };
    for (const field of ['group_id', 'name', 'timezone'] as const) {
      const { [field]: _, ...rest } = body;
      const missing = await tenant.owner.call(createLocation, { body: rest as typeof body });
      expect(missing.problem).toMatchObject({ kind: 'validation-error', detail: `body.${field}: is required.` });
      const cleared = await tenant.owner.call(createLocation, { body: { ...body, [field]: null } });
      expect(cleared.problem?.detail).toBe(`body.${field}: must be text, not null.`);
    }
    const { rows } = await service.db.query('SELECT id FROM locations WHERE account_id = $1', [tenant.account]);
    expect(rows).toEqual([]);
  });

  test('422: a group that is unknown, or of another account, is named and nothing is created', async () => {
    const tenant = newTenant(service);
    for (const group_id of [newId('group'), (await newTenant(service).group()).id]) {
      const answer = await tenant.owner.call(createLocation, { body: { group_id, name: 'Corner', timezone: 'UTC' } });
      const detail = `body.group_id: there is no group ${group_id} in this account.`;
      expect(answer.problem).toMatchObject({ kind: 'unprocessable', detail });
    }
    expect(await tenant.events()).toEqual([]);
    const { rows } = await service.db.query('SELECT id FROM locations WHERE account_id = $1', [tenant.account]);
    expect(rows).toEqual([]);
  });
});

describe('change', () => {
  test('200: what is given changes, what is left out stays, null clears', async () => {
    const tenant = newTenant(service);
    const group_id = (await tenant.group()).id;
    const before = await tenant.location(group_id);
    const params = { id: before.id };
    service.clock.advance({ seconds: 1 });
    const full = await tenant.owner.call(updateLocation, { params, body: everything });
    expect(full.status).toBe(200);
    expect(full.body).toEqual({ ...before, ...everything, ...taxonomy, updated_at: full.body.updated_at });
    expect(Date.parse(full.body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    const same = await tenant.owner.call(updateLocation, { params, body: {} });
    expect(same.body).toEqual({ ...full.body, updated_at: same.body.updated_at });
    const { status, ...clearable } = nothing;
    const cleared = await tenant.owner.call(updateLocation, { params, body: clearable as object });
    expect(cleared.body).toEqual({
      ...full.body,
      ...clearable,
      venue_taxonomy: null,
      updated_at: cleared.body.updated_at,
    });
    expect((await tenant.owner.call(getLocation, { params })).body).toEqual(cleared.body);
  });

  test.each<[object, string]>([
    [{ id: 'loc_other' }, 'body.id: cannot be changed here, not "loc_other".'],
    [{ created_at: null }, 'body.created_at: cannot be changed here, not null.'],
    [{ updated_at: 5 }, 'body.updated_at: cannot be changed here, not 5.'],
    [{ name: null }, 'body.name: must be text, not null.'],
    [{ group_id: null }, 'body.group_id: must be text, not null.'],
    [{ timezone: null }, 'body.timezone: must be text, not null.'],
    [{ status: null }, 'body.status: must be one of active, inactive, not null.'],
    [{ name: 'New', latitude: 91 }, 'body.latitude: must be at most 90, not 91.'],
  ])('400: %p is refused by name, and nothing changes', async (body, detail) => {
    const tenant = newTenant(service);
    const before = await tenant.location((await tenant.group()).id);
    const answer = await tenant.owner.call(updateLocation, { params: { id: before.id }, body });
    expect(answer.problem).toMatchObject({ kind: 'validation-error', detail });
    expect((await tenant.owner.call(getLocation, { params: { id: before.id } })).body).toEqual(before);
  });

  test('422: a move to a group of another account changes nothing, other fields included', async () => {
    const tenant = newTenant(service);
    const before = await tenant.location((await tenant.group()).id);
    const group_id = (await newTenant(service).group()).id;
    const answer = await tenant.owner.call(updateLocation, {
      params: { id: before.id },
      body: { name: 'New', group_id },
    });
    expect(answer.problem).toMatchObject({ kind: 'unprocessable', detail: expect.stringContaining(group_id) });
    expect((await tenant.owner.call(getLocation, { params: { id: before.id } })).body).toEqual(before);
  });
});

test('204: a deleted location does not exist any more, and deleting it again is 404', async () => {
  const tenant = newTenant(service);
  const params = { id: (await tenant.location((await tenant.group()).id)).id };
  expect((await tenant.owner.call(deleteLocation, { params })).status).toBe(204);
  expect((await tenant.owner.call(getLocation, { params })).problem?.kind).toBe('not-found');
  expect((await tenant.owner.call(deleteLocation, { params })).problem?.kind).toBe('not-found');
  expect((await tenant.owner.call(updateLocation, { params, body: { name: 'Back' } })).problem?.kind).toBe('not-found');
});

test('404: a location that is unknown, malformed or of another account gets the same response, byte for byte', async () => {
  const other = newTenant(service);
  const others = await other.location((await other.group()).id);
  const token = personToken({ account: newTenant(service).account });
  const ids = [newId('location'), others.id, others.group_id, 'x', '%00', 'loc_', `${others.id}0`];
  for (const [method, body] of [['GET'], ['PATCH', '{"name":"Mine"}'], ['DELETE']] as const) {
    const answers = await Promise.all(ids.map((id) => sendRaw(service, method, `/v2/locations/${id}`, token, body)));
    expect(answers[0]?.status).toBe(404);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  }
  expect((await other.owner.call(getLocation, { params: { id: others.id } })).body).toEqual(others);
});
