/**
 * The instant at which placements of a campaign change: now, but after the last such instant, so that no interval is empty
 * or begins before the one that it follows, whatever the clocks of replicas say.
 */
export const placingInstant = (now: Date, last: Date | null): Date =>
  new Date(Math.max(now.getTime(), last === null ? 0 : last.getTime() + 1));
