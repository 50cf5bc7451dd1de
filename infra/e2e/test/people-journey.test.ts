import { afterAll, beforeAll } from '@jest/globals';
import { peopleJourney } from './journeys/people.ts';
import { startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

peopleJourney(() => platform);
