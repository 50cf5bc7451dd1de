export interface Phase {
  readonly name: string;
  readonly seconds: number;
}

/** How long the phases of a run took, which may overlap. */
export interface Stopwatch {
  timed<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Those that have ended, in the order in which they began, and the time since the watch was made. */
  phases(): readonly Phase[];
}

export function createStopwatch(): Stopwatch {
  const began = performance.now();
  const ended = new Map<string, number | undefined>();
  const since = (start: number) => (performance.now() - start) / 1_000;
  return {
    async timed(name, work) {
      const start = performance.now();
      ended.set(name, undefined);
      try {
        return await work();
      } finally {
        ended.set(name, since(start));
      }
    },
    phases() {
      const phases = [...ended].flatMap(([name, seconds]) => (seconds === undefined ? [] : [{ name, seconds }]));
      return [...phases, { name: 'all of it', seconds: since(began) }];
    },
  };
}
