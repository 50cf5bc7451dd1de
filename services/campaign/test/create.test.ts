import { createCampaign, Envelope, getCampaign } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, sendRaw, startCampaign } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

test('201: a campaign created with only a name has every default, and nothing else', async () => {
  const { account } = newTenant(service);
  const answer = await sendRaw(service, 'POST', '/v2/campaigns', personToken({ account }), '{"name":"  Spring "}');
  expect(answer.status).toBe(201);
  const body = JSON.parse(answer.text) as { id: string; created_at: string };
  expect(body.id).toMatch(/^cmp_/);
  expect(body).toEqual({
    id: body.id,
    account_id: account,
    group_id: null,
    name: 'Spring',
    description: null,
    brief: { version: 1, product: null, objective: null, outcome: null },
    start_date: null,
    end_date: null,
    priority: 0,
    status: 'draft',
    current_version: null,
    live_version: null,
    metadata: {},
    created_at: body.created_at,
    updated_at: body.created_at,
    total_ad_count: 0,
    screen_count: 0,
    estimated_locations: 0,
    scored_ad_count: 0,
    campaign_score: null,
    media_asset_id: null,
    poster_url: null,
    scored_signature: null,
  });
});

test('201: every field is stored as given; missing fields of a brief get their defaults', async () => {
  const tenant = newTenant(service);
  const given = {
    name: 'Sommer – 夏 🏖️',
    description: 'First line\nsecond',
    start_date: '2028-02-29',
    end_date: '2028-02-29',
    priority: 1_000_000,
    metadata: { step: 3 },
  };
  const brief = { product: 'Shoe', tone: 'bold' };
  const created = await tenant.owner.call(createCampaign, { body: { ...given, brief } });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject(given);
  expect(created.body.brief).toEqual({ version: 1, product: 'Shoe', objective: null, outcome: null, tone: 'bold' });
  const read = await tenant.owner.call(getCampaign, { params: { id: created.body.id } });
  expect(read.body).toMatchObject(created.body);
});

test('201: unknown fields, and fields that only the service sets, are ignored', async () => {
  const tenant = newTenant(service);
  const mine = { id: newId('campaign'), account_id: newId('account'), status: 'published', created_by: 'x', colour: 1 };
  const created = await tenant.campaign(mine);
  expect(created).toMatchObject({ account_id: tenant.account, status: 'draft' });
  expect(created.id).not.toBe(mine.id);
  expect(created).not.toHaveProperty('colour');
});

test.each<[object | null, string]>([
  [null, 'body: must be an object, not null.'],
  [[], 'body: must be an object.'],
  [{}, 'body.name: is required.'],
  [{ name: '' }, 'body.name: must not be empty, not "".'],
  [{ name: 'x'.repeat(201) }, 'body.name: must have at most 200 characters.'],
  [{ name: 'x', description: 1 }, 'body.description: must be text, not 1.'],
  [{ name: 'x', description: 'x'.repeat(5001) }, 'body.description: must have at most 5000 characters.'],
  [{ name: 'x', brief: 'sell' }, 'body.brief: must be an object, not "sell".'],
  [{ name: 'x', brief: null }, 'body.brief: must be an object, not null.'],
  [{ name: 'x', brief: { version: 0 } }, 'body.brief.version: must be at least 1, not 0.'],
  [{ name: 'x', brief: { version: 1.5 } }, 'body.brief.version: must be a whole number, not 1.5.'],
  [{ name: 'x', brief: { product: {} } }, 'body.brief.product: must be text.'],
  [{ name: 'x', brief: { product: 'x'.repeat(501) } }, 'body.brief.product: must have at most 500 characters.'],
  [{ name: 'x', start_date: '2026-02-30' }, 'body.start_date: must be a calendar date (YYYY-MM-DD), not "2026-02-30".'],
  [{ name: 'x', start_date: '0000-01-01' }, 'body.start_date: must be a calendar date (YYYY-MM-DD), not "0000-01-01".'],
  [{ name: 'x', end_date: '2026-3-1' }, 'body.end_date: must be a calendar date (YYYY-MM-DD), not "2026-3-1".'],
  [
    { name: 'x', end_date: '2026-03-01T00:00:00Z' },
    'body.end_date: must be a calendar date (YYYY-MM-DD), not "2026-03-01T00:00:00Z".',
  ],
  [
    { name: 'x', start_date: '2026-03-02', end_date: '2026-03-01' },
    'body.end_date: 2026-03-01 is before start_date 2026-03-02.',
  ],
  [{ name: 'x', priority: -1 }, 'body.priority: must be at least 0, not -1.'],
  [{ name: 'x', priority: 1_000_001 }, 'body.priority: must be at most 1000000, not 1000001.'],
  [{ name: 'x', priority: 0.5 }, 'body.priority: must be a whole number, not 0.5.'],
  [{ name: 'x', priority: '1' }, 'body.priority: must be a number, not "1".'],
  [{ name: 'x', metadata: [] }, 'body.metadata: must be an object.'],
  [{ name: 'x', metadata: null }, 'body.metadata: must be an object, not null.'],
  [{ name: 'x', group_id: 'grp_1' }, 'body.group_id: must be a group id (grp_…), not "grp_1".'],
])('400: %j is refused with its name, and nothing is created or published', async (body, detail) => {
  const tenant = newTenant(service);
  const answer = await tenant.owner.call(createCampaign, { body: body as never });
  expect(answer.problem).toMatchObject({ kind: 'validation-error', detail });
  expect(await tenant.count()).toBe(0);
  expect(await tenant.events()).toEqual([]);
});

test('201: the first and the last valid date are accepted', async () => {
  const days = { start_date: '0001-01-01', end_date: '9999-12-31' };
  expect(await newTenant(service).campaign(days)).toMatchObject(days);
});

test('422: an account has 10,000 campaigns at most, however many are created at once', async () => {
  const tenant = newTenant(service);
  await service.db.query(
    `INSERT INTO campaigns (id, account_id, created_by, name, brief, metadata, target, created_at, updated_at)
     SELECT 'cmp_' || gen_random_uuid(), $1, 'usr_x', 'Row', '{}', '{}', '{}', now(), now() FROM generate_series(1, 9998)`,
    [tenant.account],
  );
  const create = () => tenant.owner.call(createCampaign, { body: { name: 'One more' } });
  const answers = await Promise.all(Array.from({ length: 8 }, create));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, ...Array(6).fill(422)]);
  expect((await create()).problem?.detail).toBe('An account has at most 10000 campaigns.');
  expect(await tenant.count()).toBe(10_000);
});

test('campaign.created is published once, with the fields that other services need, keyed by campaign', async () => {
  const tenant = newTenant(service);
  const group_id = await tenant.group();
  const sub = newId('user');
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const caller = tenant.as({ sub }).with({ headers: { traceparent } });
  const { body } = await caller.call(createCampaign, { body: { name: 'Told', group_id } });
  const events = await tenant.events();
  expect(events).toHaveLength(1);
  expect(Envelope.parse(events[0])).toEqual({
    event_id: events[0]?.event_id,
    type: 'campaign.created',
    version: 1,
    account_id: tenant.account,
    key: body.id,
    occurred_at: body.created_at,
    traceparent,
    data: { campaign_id: body.id, account_id: tenant.account, group_id, name: 'Told', created_by: sub },
  });
});

test('503: when the outbox cannot be written, no campaign is created either', async () => {
  const tenant = newTenant(service);
  await service.db.query(`ALTER TABLE outbox ADD CONSTRAINT refuse CHECK (account_id <> '${tenant.account}')`);
  const refused = await tenant.owner.call(createCampaign, { body: { name: 'Lost' } });
  await service.db.query('ALTER TABLE outbox DROP CONSTRAINT refuse');
  const detail = 'The service could not answer for now. Try again.';
  expect(refused.problem).toMatchObject({ kind: 'unavailable', detail });
  expect(await tenant.count()).toBe(0);
  expect(await tenant.events()).toEqual([]);
});
