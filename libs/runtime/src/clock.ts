/** The source of time, which tests can set. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
