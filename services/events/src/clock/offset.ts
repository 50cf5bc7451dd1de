/** How far a clock may seem wrong because of the way that a batch took, in milliseconds. */
const transitMs = 30_000;

/**
 * What is added to the times of a batch, in milliseconds, so that they are those of the platform's clock. A batch that is
 * late by a right clock (`synced`) is late, and its times are right.
 */
export function clockOffset(receivedAt: number, sentAt: number, synced: boolean): number {
  const behind = receivedAt - sentAt;
  const right = Math.abs(behind) <= transitMs || (synced && behind >= -transitMs);
  return right ? 0 : behind;
}

/** A time of a batch by the platform's clock. Nothing ends, or begins, after it was received. */
export const corrected = (instant: number, offset: number, receivedAt: number): number =>
  Math.min(instant + offset, receivedAt);

export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** An interval by the platform's clock, which may be empty. */
export const correctedInterval = ({ start, end }: Interval, offset: number, receivedAt: number): Interval => ({
  start: corrected(start, offset, receivedAt),
  end: corrected(end, offset, receivedAt),
});
