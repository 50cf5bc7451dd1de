/**
 * How long to rest after making manifests, for each millisecond of it, so that others get the database: what somebody
 * changed takes half of the time at most, and what time changes a quarter, as midnight changes many at once.
 */
export const paces = { caused: 1, due: 3 };

/** A database that was held up has rested already. */
const mostMs = 500;

/** Milliseconds to rest after work that began then, by `performance.now()`. */
export const restAfter = (began: number, pace: number): number => Math.min((performance.now() - began) * pace, mostMs);
