import type { Clock } from '@attribution/runtime';

export interface TestClock extends Clock {
  /** Advances the time. */
  advance(by: { seconds?: number; minutes?: number; days?: number }): void;
}

/** Real time, plus what the test has advanced it by. */
export function createTestClock(): TestClock {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    advance({ seconds = 0, minutes = 0, days = 0 }) {
      ahead += ((days * 24 * 60 + minutes) * 60 + seconds) * 1000;
    },
  };
}
