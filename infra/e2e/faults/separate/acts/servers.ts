import { setTimeout as sleep } from 'node:timers/promises';
import { rowsOf } from '../../crash/check/databases.ts';
import type { SeparateWorld } from '../world.ts';
import { type Act, judged, type Stage, seconds } from './act.ts';

/** Makes a server unavailable and available again under load. The time of recovery counts from its return. */
async function outage({ trial, lab }: Stage, what: string, work: () => Promise<void>, pause = 500): Promise<void> {
  await sleep(lab.chance.int(200, pause));
  await work();
  const { ms, longest } = await trial.recover();
  lab.say(`  ${what}: well after ${seconds(ms)} (${longest})`);
}

interface Server {
  stop(): Promise<unknown>;
  restart(): Promise<unknown>;
}

interface Stopped {
  readonly name: string;
  /** The server's name in the findings. */
  readonly called: string;
  readonly server: (world: SeparateWorld) => Server;
  /** Seconds. */
  readonly away: { readonly long: number; readonly short: number };
  /** The act runs once in so many rounds. */
  readonly everyRounds: number;
}

/** Stops a server and restarts it on the same port; no request may fail. */
const stopped = ({ name, called, server, away, everyRounds }: Stopped): Act => ({
  name,
  async run(stage) {
    const { world, trial, lab } = stage;
    const ms = 1_000 * (lab.long ? away.long : away.short);
    const rounds = lab.long ? Math.ceil(lab.rounds / everyRounds) : 1;
    const outcome = await trial.underLoad(async () => {
      for (let round = 0; round < rounds; round++)
        await outage(stage, `${called} away for ${seconds(ms)}`, async () => {
          await server(world).stop();
          await sleep(ms);
          await server(world).restart();
        });
    });
    const what = `${called} stopped for ${seconds(ms)}, separate processes`;
    return [judged({ long: lab.long, what, tried: rounds, outcome, seamless: true })];
  },
});

/** Kafka keeps its data. */
export const kafka = stopped({
  name: 'kafka',
  called: 'Kafka',
  server: ({ servers }) => servers.kafka,
  away: { long: 60, short: 2 },
  everyRounds: 10,
});

/** Redis is empty after the restart. */
export const redis = stopped({
  name: 'redis',
  called: 'Redis',
  server: ({ servers }) => servers.redis,
  away: { long: 10, short: 1 },
  everyRounds: 4,
});

/**
 * Restarts the Postgres server of all databases, and ends all connections of one database after the other. The short form
 * does not wait for the recovery of one database before it turns to the next.
 */
export const postgres: Act = {
  name: 'postgres',
  async run(stage) {
    const { world, trial, lab } = stage;
    const { postgres: server } = world.servers;
    const endings = ['immediate', 'fast'] as const;
    const databases = Object.keys(world.databases);
    const rounds = lab.long ? Math.ceil(lab.rounds / 2) : 1;
    const restarted = await trial.underLoad(async () => {
      for (let round = 0; round < rounds; round++)
        for (const how of endings)
          await outage(stage, `Postgres restarted, ${how}`, async () => {
            await server.end(how);
            await server.start();
          });
    });
    const ended = await trial.underLoad(async () => {
      for (let round = 0; round < rounds; round++)
        for (const some of lab.long ? databases.map((database) => [database]) : [databases])
          await outage(stage, `every connection of ${some.join(', ')} ended`, async () => {
            for (const database of some) {
              const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`;
              await rowsOf(server.url('postgres'), sql);
            }
          });
    });
    const tried = (each: number) => rounds * each;
    return [
      judged({
        long: lab.long,
        what: `Postgres restarted (${endings.join(', ')}), separate processes`,
        tried: tried(endings.length),
        outcome: restarted,
      }),
      judged({
        long: lab.long,
        what: 'All connections of one database after the other ended, separate processes',
        tried: tried(databases.length),
        outcome: ended,
      }),
    ];
  },
};
