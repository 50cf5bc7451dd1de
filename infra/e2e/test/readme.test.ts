import { getCampaign, listCampaigns, login, type Session } from '@attribution/contracts';
import { seedDemo } from '@attribution/local';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { readmeWalk } from './journeys/readme.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';
import { hashOf } from './support-campaign.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

readmeWalk(() => platform);

test('the demo account has a draft, and a campaign that is published on all of its screens with pictures that fit', async () => {
  const body = await seedDemo(platform.url, platform.mailDirectory, () => {});
  const session = (await platform.client.call(login, { body })).body as z.output<typeof Session>;
  const client = platform.client.with({ token: session.access_token });
  const { data } = (await client.call(listCampaigns)).body;
  expect(data).toMatchObject([{ status: 'draft' }, { status: 'published', live_version: 1, screen_count: 12 }]);
  const published = (await client.call(getCampaign, { params: { id: data[1]?.id ?? '' } })).body;
  const { error_count, ads } = published.latest_validation;
  expect([error_count, ads.map(({ screen_count }) => screen_count)]).toEqual([0, [4, 8]]);
  const posters = [published, ...published.ads].map(({ poster_url }) => hashOf(poster_url));
  // The cover is one of both.
  expect(new Set(await Promise.all(posters)).size).toBe(2);

  expect(await seedDemo(platform.url, platform.mailDirectory, () => {})).toEqual(body);
  expect((await client.call(listCampaigns)).body.data).toHaveLength(2);
});
