import { Counter, Gauge, type Registry } from 'prom-client';
import type { ByteBudget } from './byte-budget.ts';

/** What the metrics of a budget are called, by what it is for. */
const names = {
  bodies: { prefix: 'body', plural: 'bodies', of: 'request bodies that the process' },
  files: { prefix: 'spool', plural: 'spools', of: 'uploads and exports on disk that the process' },
} as const;

/** Metrics of the bodies, or of the files, that a process holds. Services that run in one process share its budgets. */
export function observeBudget(registry: Registry, service: string, what: keyof typeof names, budget: ByteBudget): void {
  const registers = [registry];
  const { prefix, plural, of } = names[what];
  new Gauge({
    name: `${prefix}_bytes`,
    help: `Bytes of ${of} holds`,
    labelNames: ['service'],
    registers,
    collect() {
      this.set({ service }, budget.used);
    },
  });
  new Gauge({
    name: `${prefix}_bytes_max`,
    help: `Bytes of ${of} may hold`,
    labelNames: ['service'],
    registers,
    collect() {
      this.set({ service }, budget.limit);
    },
  });
  new Counter({
    name: `${plural}_refused_total`,
    help: `Requests that were refused because of the share of their client, or because the budget was used up`,
    labelNames: ['service', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(budget.refused)) this.inc({ service, reason }, count);
    },
  });
}
