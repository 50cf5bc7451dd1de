import type { Pool } from 'pg';
import { Gauge, type Registry } from 'prom-client';

/** Metrics of the connection pool, read at each scrape, and whether the database answers. */
export function observePool(registry: Registry, service: string, pool: Pool) {
  const registers = [registry];
  new Gauge({
    name: 'database_pool_connections',
    help: 'Connections to the database, by what they do',
    labelNames: ['service', 'state'],
    registers,
    collect() {
      this.set({ service, state: 'in_use' }, pool.totalCount - pool.idleCount);
      this.set({ service, state: 'idle' }, pool.idleCount);
    },
  });
  new Gauge({
    name: 'database_pool_waiting',
    help: 'Who waits for a connection',
    labelNames: ['service'],
    registers,
    collect() {
      this.set({ service }, pool.waitingCount);
    },
  });
  new Gauge({
    name: 'database_pool_max',
    help: 'Connections that the pool may have',
    labelNames: ['service'],
    registers,
    collect() {
      this.set({ service }, pool.options.max);
    },
  });
  const up = new Gauge({
    name: 'database_up',
    help: 'Whether the database answers: 1 or 0',
    labelNames: ['service'],
    registers,
  });
  return { up: (answers: boolean) => up.set({ service }, answers ? 1 : 0) };
}
