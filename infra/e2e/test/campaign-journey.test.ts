import { afterAll, beforeAll } from '@jest/globals';
import { campaignJourney } from './journeys/campaign.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

campaignJourney(() => platform);
