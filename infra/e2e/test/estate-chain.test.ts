import { afterAll, beforeAll } from '@jest/globals';
import { chainJourneys } from './journeys/estate-chain.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

chainJourneys(() => platform);
