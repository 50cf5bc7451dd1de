import { afterAll, beforeAll } from '@jest/globals';
import { accountJourneys } from './journeys/account.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

accountJourneys(() => platform);
