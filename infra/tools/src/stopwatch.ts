export interface Phase {
  readonly name: string;
  readonly seconds: number;
}

/** Measures the phases of a run, which may overlap. */
export interface Stopwatch {
  timed<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** The phases that have ended, in the order of their start, and the total time since the stopwatch was created. */
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
