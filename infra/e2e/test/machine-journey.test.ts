import { afterAll, beforeAll } from '@jest/globals';
import { machineJourney } from './journeys/machine.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

machineJourney(() => platform);
