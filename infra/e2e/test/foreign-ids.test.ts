import { afterAll, beforeAll } from '@jest/globals';
import { foreignIdJourneys } from './journeys/foreign-ids.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

foreignIdJourneys(() => platform);
