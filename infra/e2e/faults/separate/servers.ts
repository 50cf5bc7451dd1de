import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MailCatcher, startMailCatcher } from '@attribution/fleet';
import { type Broker, type RedisServer, startKafka, startRedis } from '@attribution/servers';
import { type Cluster, startCluster } from '../outages/cluster.ts';

/** The servers of one fleet alone, so that they can be broken without affecting other tests. */
export interface Servers {
  /** Contains the servers' data except that of Postgres, the processes' logs, and mail. */
  readonly directory: string;
  readonly postgres: Cluster;
  readonly kafka: Broker;
  readonly redis: RedisServer;
  readonly mailDirectory: string;
  /** The servers' addresses by those in the Compose file. */
  readonly addresses: ReadonlyMap<string, string>;
  stop(): Promise<void>;
}

const cache = join(import.meta.dirname, '../../../../.cache');

export async function openServers(password: string, say: (line: string) => void): Promise<Servers> {
  const directory = await mkdtemp(join(tmpdir(), 'separate-'));
  const mailDirectory = join(directory, 'mail');
  const stops: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one().catch(() => {});
  };
  const kept = <S extends { stop(): Promise<unknown> }>(server: S): S => {
    stops.push(() => server.stop());
    return server;
  };
  const started = await Promise.allSettled([
    startCluster({ password, connections: 300 }).then((cluster) => {
      stops.push(() => cluster.remove());
      return cluster;
    }),
    startKafka({ directory: join(directory, 'kafka'), cache, say }).then(kept),
    startRedis({ directory: join(directory, 'redis'), say }).then(kept),
    startMailCatcher(mailDirectory).then(kept<MailCatcher>),
  ]);
  const [postgres, kafka, redis, mail] = started;
  if (
    postgres.status === 'rejected' ||
    kafka.status === 'rejected' ||
    redis.status === 'rejected' ||
    mail.status === 'rejected'
  ) {
    await stop();
    throw started.find((one) => one.status === 'rejected')?.reason;
  }
  return {
    directory,
    postgres: postgres.value,
    kafka: kafka.value,
    redis: redis.value,
    mailDirectory,
    addresses: new Map([
      ['postgres:5432', `127.0.0.1:${postgres.value.port}`],
      ['kafka:9092', kafka.value.brokers.join(',')],
      ['redis:6379', new URL(redis.value.url).host],
      ['mailpit:1025', `127.0.0.1:${mail.value.port}`],
    ]),
    stop,
  };
}
