import { afterAll, beforeAll } from '@jest/globals';
import { auditJourney } from './journeys/audit.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

auditJourney(() => platform);
