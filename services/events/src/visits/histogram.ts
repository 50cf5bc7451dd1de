const minuteMs = 60_000;

/** Where the bars of a histogram of dwells begin, in milliseconds. The last one has no end. */
export const histogramEdges = [0, 0.5, 1, 2, 5, 10, 20, 30, 60].map((minutes) => minutes * minuteMs);

/** Every bar, with its visits by the number of the bar, from 1. */
export const histogramOf = (visits: Readonly<Record<string, number>>) =>
  histogramEdges.map((from_ms, at) => ({
    from_ms,
    to_ms: histogramEdges[at + 1] ?? null,
    visits: visits[at + 1] ?? 0,
  }));
