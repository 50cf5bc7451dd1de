import { afterAll, beforeAll } from '@jest/globals';
import { limitJourneys } from './journeys/limits.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

limitJourneys(() => platform);
