import type { Interval } from './offset.ts';

export type QuarantineReason = 'future' | 'too_long' | 'too_old';

const hourMs = 3_600_000;
const longestMs = 24 * hourMs;
const oldestMs = 90 * 24 * hourMs;

/** Why an item is kept out of every figure, judged by its corrected interval; undefined if it is not. */
export function quarantineReason({ start, end }: Interval, receivedAt: number): QuarantineReason | undefined {
  if (start >= end) return 'future'; // The end of what is yet to come was moved to when it was received.
  if (end - start > longestMs) return 'too_long';
  if (start < receivedAt - oldestMs) return 'too_old';
  return undefined;
}
