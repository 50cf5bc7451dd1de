import { Counter, Gauge, type Registry } from 'prom-client';

export interface HashMetrics {
  done(): void;
  /** Somebody was told to come again. */
  refused(): void;
  /** Reads at each scrape how many hashes wait. */
  watch(waiting: () => number): void;
}

/** Metrics of the slow hashes of passwords and codes. */
export function observeHashes(registry: Registry): HashMetrics {
  const registers = [registry];
  const service = 'account';
  const hashes = new Counter({
    name: 'slow_hashes_total',
    help: 'Hashes of passwords and codes; refused: whoever needed it was told to come again',
    labelNames: ['service', 'outcome'],
    registers,
  });
  for (const outcome of ['done', 'refused']) hashes.inc({ service, outcome }, 0);
  return {
    done: () => hashes.inc({ service, outcome: 'done' }),
    refused: () => hashes.inc({ service, outcome: 'refused' }),
    watch(waiting) {
      new Gauge({
        name: 'slow_hashes_waiting',
        help: 'Hashes that wait for a core',
        labelNames: ['service'],
        registers,
        collect() {
          this.set({ service }, waiting());
        },
      });
    },
  };
}
