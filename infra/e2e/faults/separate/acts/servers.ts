import { setTimeout as sleep } from 'node:timers/promises';
import { rowsOf } from '../../crash/check/databases.ts';
import { type Act, judged, type Stage, seconds } from './act.ts';

/** Takes something away and brings it back under load; recovery counts from its return. */
async function outage({ trial, lab }: Stage, what: string, work: () => Promise<void>, pause = 500): Promise<void> {
  await sleep(lab.chance.int(200, pause));
  await work();
  const { ms, longest } = await trial.recover();
  lab.say(`  ${what}: well after ${seconds(ms)} (${longest})`);
}

/** Kafka ended, and started again on the same data and port. */
export const kafka: Act = {
  name: 'kafka',
  async run(stage) {
    const { world, trial, lab } = stage;
    const away = lab.long ? 60_000 : 4_000;
    const rounds = lab.long ? Math.ceil(lab.rounds / 10) : 1;
    const outcome = await trial.underLoad(async () => {
      for (let round = 0; round < rounds; round++)
        await outage(stage, `Kafka away for ${seconds(away)}`, async () => {
          await world.servers.kafka.stop();
          await sleep(away);
          await world.servers.kafka.restart();
        });
    });
    return [
      judged({
        long: lab.long,
        what: `Kafka stopped for ${seconds(away)}, separate processes`,
        tried: rounds,
        outcome,
        seamless: true,
      }),
    ];
  },
};

/** Redis ended, and started again with nothing in it. */
export const redis: Act = {
  name: 'redis',
  async run(stage) {
    const { world, trial, lab } = stage;
    const away = lab.long ? 10_000 : 2_000;
    const rounds = lab.long ? Math.ceil(lab.rounds / 4) : 1;
    const outcome = await trial.underLoad(async () => {
      for (let round = 0; round < rounds; round++)
        await outage(stage, `Redis away for ${seconds(away)}`, async () => {
          await world.servers.redis.stop();
          await sleep(away);
          await world.servers.redis.restart();
        });
    });
    return [
      judged({
        long: lab.long,
        what: `Redis stopped for ${seconds(away)}, separate processes`,
        tried: rounds,
        outcome,
        seamless: true,
      }),
    ];
  },
};

/** The server of all databases restarted, and every connection of one database after the other ended. */
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
        for (const database of databases)
          await outage(stage, `every connection of ${database} ended`, async () => {
            const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`;
            await rowsOf(server.url('postgres'), sql);
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
