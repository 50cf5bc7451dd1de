import { afterAll, beforeAll } from '@jest/globals';
import { narrowedJourneys } from './journeys/estate-narrowed.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

narrowedJourneys(() => platform);
