/** How long an item stays in quarantine. */
const keptMs = 30 * 24 * 60 * 60_000;

/** Items in quarantine that were received until then are seen no more, and purged. */
export const keptSince = (now: Date): Date => new Date(now.getTime() - keptMs);
