import { getCampaign, updateCampaign } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, setStatus, startCampaign } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

type Tenant = ReturnType<typeof newTenant>;
const patch = (tenant: Tenant, id: string, body: object | null) =>
  tenant.owner.call(updateCampaign, { params: { id }, body: body as object });
const get = async (tenant: Tenant, id: string) => (await tenant.owner.call(getCampaign, { params: { id } })).body;

test('200: given fields change, others stay, null clears; no event is published', async () => {
  const tenant = newTenant(service);
  const before = await tenant.campaign({ metadata: { step: 1, kept: false } });
  const events = await tenant.events();
  service.clock.advance({ seconds: 1 });
  const change = {
    name: 'New',
    description: 'Text',
    start_date: '2026-03-01',
    end_date: '2026-03-31',
    priority: 9,
    metadata: { step: 2 },
  };
  const changed = await patch(tenant, before.id, { ...change, name: ' New ' });
  expect(changed.status).toBe(200);
  expect(changed.body).toEqual({ ...before, ...change, updated_at: changed.body.updated_at });
  expect(Date.parse(changed.body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
  const same = await patch(tenant, before.id, { colour: 'red' });
  expect(same.body).toEqual({ ...changed.body, updated_at: same.body.updated_at });
  const cleared = await patch(tenant, before.id, { description: null, start_date: null, end_date: null, metadata: {} });
  const clearedFields = { description: null, start_date: null, end_date: null, metadata: {} };
  expect(cleared.body).toEqual({ ...changed.body, ...clearedFields, updated_at: cleared.body.updated_at });
  expect(await get(tenant, before.id)).toMatchObject(cleared.body);
  expect(await tenant.events()).toEqual(events);
});

test('200: the brief is merged field by field; a field given as null is stored as null', async () => {
  const tenant = newTenant(service);
  const brief = { version: 2, product: 'Shoe', tone: 'bold', audience: { age: [20, 30], city: 'Bern' } };
  const { id } = await tenant.campaign({ brief });
  const merged = await patch(tenant, id, { brief: { objective: 'Sell', tone: null, audience: { age: [40] } } });
  const now = { ...brief, objective: 'Sell', outcome: null, tone: null, audience: { age: [40] } };
  expect(merged.body.brief).toEqual(now);
  expect((await patch(tenant, id, { brief: {} })).body.brief).toEqual(now);
  expect((await patch(tenant, id, { brief: { version: 3, product: null } })).body.brief).toEqual({
    ...now,
    version: 3,
    product: null,
  });
});

test.each(['published', 'archived'] as const)('409: a campaign that is %s cannot be changed', async (status) => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign();
  await setStatus(service, id, status);
  const before = await get(tenant, id);
  for (const body of [{ name: 'New' }, { brief: { product: 'New' } }, {}]) {
    const detail = `The campaign is ${status}: only a draft can be changed.`;
    expect((await patch(tenant, id, body)).problem).toMatchObject({ kind: 'conflict', detail });
  }
  expect(await get(tenant, id)).toEqual(before);
});

describe('dates', () => {
  test.each<[object, string]>([
    [{ end_date: '2026-03-09' }, 'body.end_date: 2026-03-09 is before start_date 2026-03-10.'],
    [{ start_date: '2026-03-21' }, 'body.start_date: 2026-03-21 is after end_date 2026-03-20.'],
    [
      { start_date: '2026-05-02', end_date: '2026-05-01' },
      'body.end_date: 2026-05-01 is before start_date 2026-05-02.',
    ],
  ])('400: %j is out of order with what is given or stored, and nothing changes', async (dates, detail) => {
    const tenant = newTenant(service);
    const { id } = await tenant.campaign({ start_date: '2026-03-10', end_date: '2026-03-20' });
    const before = await get(tenant, id);
    const refused = await patch(tenant, id, { name: 'New', ...dates });
    expect(refused.problem).toMatchObject({ kind: 'validation-error', detail });
    expect(await get(tenant, id)).toEqual(before);
  });

  test.each([
    { start_date: '2026-03-20' },
    { end_date: '2026-03-10' },
    { start_date: '2026-05-01', end_date: '2026-05-01' },
    { start_date: null, end_date: '2020-01-01' },
    { end_date: null, start_date: '2030-01-01' },
  ])('200: %j is in order', async (dates) => {
    const tenant = newTenant(service);
    const { id } = await tenant.campaign({ start_date: '2026-03-10', end_date: '2026-03-20' });
    expect((await patch(tenant, id, dates)).body).toMatchObject(dates);
  });
});

test.each([
  ['id', 'cmp_x'],
  ['account_id', 'acc_x'],
  ['status', 'published'],
  ['current_version', 2],
  ['live_version', 2],
  ['created_at', null],
  ['updated_at', '2026-01-01T00:00:00Z'],
  ['total_ad_count', 0],
  ['screen_count', 1],
  ['estimated_locations', 1],
  ['scored_ad_count', 1],
  ['campaign_score', 99.5],
  ['poster_url', 'https://m.test/p'],
  ['scored_signature', 'abc'],
])('400: %s cannot be changed, and the answer names it and what was given', async (field, value) => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign();
  const before = await get(tenant, id);
  const refused = await patch(tenant, id, { name: 'New', [field]: value });
  const detail = `body.${field}: cannot be changed here, not ${JSON.stringify(value)}.`;
  expect(refused.problem).toMatchObject({ kind: 'validation-error', detail });
  expect(await get(tenant, id)).toEqual(before);
});

test.each<[object | null, string]>([
  [null, 'body: must be an object, not null.'],
  [{ name: null }, 'body.name: must be text, not null.'],
  [{ name: '  ' }, 'body.name: must not be empty, not "  ".'],
  [{ brief: null }, 'body.brief: must be an object, not null.'],
  [{ brief: { version: null } }, 'body.brief.version: must be a number, not null.'],
  [{ brief: { objective: 'x'.repeat(2001) } }, 'body.brief.objective: must have at most 2000 characters.'],
  [{ priority: null }, 'body.priority: must be a number, not null.'],
  [{ metadata: null }, 'body.metadata: must be an object, not null.'],
  [{ start_date: 'tomorrow' }, 'body.start_date: must be a calendar date (YYYY-MM-DD), not "tomorrow".'],
  [{ group_id: 'x' }, 'body.group_id: must be a group id (grp_…), not "x".'],
])('400: %j is refused with its name, and nothing changes', async (body, detail) => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign();
  const before = await get(tenant, id);
  expect((await patch(tenant, id, body)).problem).toMatchObject({ kind: 'validation-error', detail });
  expect(await get(tenant, id)).toEqual(before);
});
