/** How long to wait between attempts, in milliseconds. */
export interface BackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

export interface Backoff {
  /** After a failure. `retryAfterMs`: what the server asked for, which is never undercut. */
  next(retryAfterMs?: number): number;
  /** After a success. */
  reset(): void;
}

/**
 * Doubles the time with each failure and takes a random part of it, so that a fleet that lost its server at once does not
 * come back at once. To what the server asks for, up to as much again is added, for the same reason.
 */
export function createBackoff({ firstMs, longestMs, random }: BackoffOptions): Backoff {
  let failures = 0;
  return {
    next(retryAfterMs = 0) {
      const most = Math.min(longestMs, firstMs * 2 ** Math.min(failures++, 30));
      return Math.round(retryAfterMs > 0 ? retryAfterMs + random() * Math.max(retryAfterMs, most) : random() * most);
    },
    reset() {
      failures = 0;
    },
  };
}
