import { afterAll, beforeAll } from '@jest/globals';
import { siteJourneys } from './journeys/site.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

siteJourneys(() => platform);
