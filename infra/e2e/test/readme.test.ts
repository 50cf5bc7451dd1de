import { afterAll, beforeAll } from '@jest/globals';
import { readmeWalk } from './journeys/readme.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

readmeWalk(() => platform);
