import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startAmongNeighbours } from './support-neighbours.ts';
import { newAd, newStudio } from './support-studio.ts';

const { scoreCampaign, listCampaignScores, getJob, getCampaign } = contracts;

type Among = Awaited<ReturnType<typeof startAmongNeighbours>>;
let service: TestService;
let neighbours: Among['neighbours'];
let stop: Among['stop'];
beforeAll(async () => {
  ({ service, neighbours, stop } = await startAmongNeighbours());
});
afterAll(() => stop());
afterEach(() => {
  Object.assign(neighbours.state, { price: 3, available: 1_000_000 });
  neighbours.state.away.clear();
});

type Studio = Awaited<ReturnType<typeof planned>>;

async function ended({ owner }: Studio, id: string) {
  return eventually(async () => {
    const { body } = await owner.call(getJob, { params: { id } });
    if (!body.finished_at) throw new Error(`The job is ${body.status}`);
    return body;
  });
}

/** A draft with an ad that reaches two screens. */
async function planned() {
  const studio = await newStudio(service);
  return { ...(await studio.planned(2)), tenant: studio.tenant };
}
const score = (studio: Studio, key?: string) =>
  studio.owner.call(scoreCampaign, {
    params: studio.params,
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });

test('202: tokens are held, and spent when all scores are there; each score follows from its components', async () => {
  const studio = await planned();
  const begun = await score(studio);
  expect([begun.status, begun.body]).toEqual([
    202,
    { job_id: expect.stringMatching(/^job_/), hold_id: expect.stringMatching(/^hld_/) },
  ]);
  expect(await ended(studio, begun.body.job_id)).toMatchObject({
    ...{ kind: 'campaign_scoring', status: 'succeeded', progress: 100, error: null },
    ...{ subject_id: studio.params.id, hold_id: begun.body.hold_id },
  });
  expect(neighbours.holdsOf(studio.account)).toMatchObject([{ amount: 3, captured: 3, status: 'captured' }]);
  const { entries } = (await studio.owner.call(listCampaignScores, { params: studio.params })).body;
  expect(entries).toMatchObject([
    { campaign_ad_id: studio.campaignAd.id, job_id: begun.body.job_id, model: 'heuristic-1', heuristic: true },
  ]);
  const [made] = entries;
  const sum = made?.components.reduce((total, { weight, value }) => total + weight * value, 0) ?? Number.NaN;
  expect(Math.abs((made?.score ?? 0) - sum)).toBeLessThanOrEqual(0.05 + 1e-9);
  expect(made?.components.reduce((total, { weight }) => total + weight, 0)).toBeCloseTo(1, 9);
  const campaign = (await studio.owner.call(getCampaign, { params: studio.params })).body;
  expect(campaign).toMatchObject({
    scored_signature: made?.signature,
    scored_ad_count: 1,
    campaign_score: made?.score,
  });
  expect((await studio.tenant.events()).filter(({ type }) => type.startsWith('score.'))).toMatchObject([
    { type: 'score.completed', data: { campaign_id: studio.params.id, ...begun.body } },
  ]);
});

test('409: nothing has changed since; after a change it is scored anew', async () => {
  const studio = await planned();
  await ended(studio, (await score(studio)).body.job_id);
  expect((await score(studio)).problem).toMatchObject({
    kind: 'conflict',
    detail: expect.stringMatching(/^Nothing has changed/),
  });
  await studio.owner.call(contracts.updateCampaign, { params: studio.params, body: { brief: { product: 'Shoes' } } });
  const again = await score(studio);
  expect(again.status).toBe(202);
  await ended(studio, again.body.job_id);
  expect((await studio.owner.call(listCampaignScores, { params: studio.params })).body.entries).toHaveLength(2);
});

test('of many runs at once one begins, the others are 409, and tokens are held once', async () => {
  const studio = await planned();
  const answers = await Promise.all(Array.from({ length: 8 }, () => score(studio)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...Array(7).fill(409)]);
  expect(neighbours.holdsOf(studio.account)).toHaveLength(1);
});

test('202: a repetition with its Idempotency-Key is the same run, and holds nothing more', async () => {
  const studio = await planned();
  const key = newId('account');
  const first = await score(studio, key);
  expect((await score(studio, key)).body).toEqual(first.body);
  expect(neighbours.holdsOf(studio.account)).toHaveLength(1);
});

test('202: hold_id is null when it costs nothing', async () => {
  neighbours.state.price = 0;
  const studio = await planned();
  const { body } = await score(studio);
  expect(body.hold_id).toBeNull();
  expect(await ended(studio, body.job_id)).toMatchObject({ status: 'succeeded', hold_id: null });
});

test('402: too few tokens; nothing is kept of it', async () => {
  neighbours.state.available = 2;
  const studio = await planned();
  expect((await score(studio)).problem).toMatchObject({ kind: 'insufficient-balance' });
  neighbours.state.available = 3;
  expect((await score(studio)).status).toBe(202);
});

test('404, 409, 422: an unknown campaign, an archived one, one without ads', async () => {
  const studio = await planned();
  const { owner, tenant, params } = studio;
  expect((await owner.call(scoreCampaign, { params: { id: newId('campaign') } })).status).toBe(404);
  expect((await owner.call(listCampaignScores, { params: { id: newId('campaign') } })).status).toBe(404);
  expect((await owner.call(scoreCampaign, { params: { id: (await tenant.campaign()).id } })).status).toBe(422);
  await owner.call(contracts.archiveCampaign, { params });
  expect((await score(studio)).problem).toMatchObject({ kind: 'conflict' });
  expect(neighbours.holdsOf(studio.account)).toEqual([]);
});

test('502: a price that nobody names for now; nothing is kept of it', async () => {
  const studio = await planned();
  neighbours.state.away.add('billing');
  expect((await score(studio)).status).toBe(502);
  neighbours.state.away.clear();
  expect((await score(studio)).status).toBe(202);
});

test('502: tokens that may be held; the run is given up after a while, and what it holds is released', async () => {
  const studio = await planned();
  neighbours.state.away.add('account');
  expect((await score(studio)).status).toBe(502);
  neighbours.state.away.clear();
  expect((await score(studio)).problem).toMatchObject({ kind: 'conflict' }); // It is not known yet that nobody goes on.
  service.clock.advance({ minutes: 2 });
  await eventually(async () => expect((await score(studio)).status).toBe(202));
  expect(neighbours.holdsOf(studio.account).map(({ status }) => status)).toContain('voided');
});

test('a run whose tokens can never be spent fails: scores and signature are as before, and nothing is held', async () => {
  const studio = await planned();
  neighbours.state.away.add('capture');
  const { body } = await score(studio);
  expect(await ended(studio, body.job_id)).toMatchObject({
    status: 'failed',
    error: { code: 'not_scored' },
    attempts: 3,
  });
  expect(neighbours.holdsOf(studio.account)).toMatchObject([{ status: 'voided', captured: 0 }]);
  const campaign = (await studio.owner.call(getCampaign, { params: studio.params })).body;
  expect(campaign).toMatchObject({ scored_signature: null, scored_ad_count: 0, campaign_score: null });
  expect((await studio.tenant.events()).filter(({ type }) => type.startsWith('score.'))).toMatchObject([
    { type: 'score.failed', data: body },
  ]);
});

test('400, 200: pages of scores, by campaign ad', async () => {
  const studio = await planned();
  const { ad } = await newAd(service, studio.account);
  const body = { ad_id: ad, screen_tag: 'entrance' };
  const second = (await studio.owner.call(contracts.addCampaignAd, { params: studio.params, body })).body;
  await ended(studio, (await score(studio)).body.job_id);
  const list = (query: Record<string, string | number | undefined>) =>
    studio.owner.call(listCampaignScores, { params: studio.params, query });
  const first = (await list({ limit: 1 })).body;
  const rest = (await list({ limit: 1, cursor: first.next_cursor ?? undefined })).body;
  expect(new Set([...first.entries, ...rest.entries].map(({ campaign_ad_id }) => campaign_ad_id)).size).toBe(2);
  expect(rest.next_cursor).toBeNull();
  expect((await list({ campaign_ad_ids: second.id })).body.entries).toMatchObject([{ campaign_ad_id: second.id }]);
  expect((await list({ campaign_ad_ids: newId('campaign_ad') })).body.entries).toEqual([]);
  expect((await list({ limit: 0 })).status).toBe(400);
});
