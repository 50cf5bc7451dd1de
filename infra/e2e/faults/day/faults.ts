import { setTimeout as sleep } from 'node:timers/promises';
import type { SeparateWorld } from '../separate/world.ts';

/** Breaks something and waits until it is whole again. */
interface Fault {
  readonly name: string;
  run(world: SeparateWorld): Promise<void>;
}

const killed = (...names: readonly string[]): Fault => ({
  name: `kill -9 of ${names.join(' and ')}`,
  async run({ processes }) {
    await Promise.all(names.map((name) => processes.end(name, 'SIGKILL')));
    await processes.ready(names);
  },
});

const stopped = (server: 'kafka' | 'redis', ms: number): Fault => ({
  name: `${server === 'kafka' ? 'Kafka' : 'Redis'} away for ${ms / 1000} s`,
  async run({ servers }) {
    await servers[server].stop();
    await sleep(ms);
    await servers[server].restart();
  },
});

const restarted = (how: 'immediate' | 'kill'): Fault => ({
  name: `Postgres restarted (${how})`,
  async run({ servers }) {
    await servers.postgres.end(how);
    await servers.postgres.start();
  },
});

/** What is on the way of an item from the socket to a figure, with one replica of each process. */
export const shortFaults: readonly Fault[] = [
  killed('events-api-1'),
  killed('events-worker-1'),
  stopped('kafka', 3_000),
  killed('ingress-1'),
  restarted('immediate'),
  stopped('redis', 1_000),
];

/** With two. */
export const longFaults: readonly Fault[] = [
  killed('events-api-1'),
  killed('events-worker-2'),
  killed('ingress-1'),
  killed('device-api-1'),
  stopped('kafka', 10_000),
  killed('events-api-1', 'events-api-2'),
  restarted('immediate'),
  killed('events-worker-1', 'events-worker-2'),
  stopped('redis', 5_000),
  killed('ingress-1', 'ingress-2'),
  killed('organization-api-1', 'campaign-api-1'),
  restarted('kill'),
];
