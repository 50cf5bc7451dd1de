import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Found,
  findKafka,
  findRedis,
  type Missing,
  startPostgres,
  startTraceCollector,
} from '@attribution/servers';
import type { ComposeFile } from './compose-file.ts';
import { startMailCatcher } from './mail-catcher.ts';

export interface Servers {
  /** The address of each server on this machine, by its address in the Compose file. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Names and descriptions of the servers, for output. */
  readonly found: readonly (readonly [string, string])[];
  stop(): Promise<void>;
}

export interface ServersOptions {
  readonly file: ComposeFile;
  /** The folder of their data, which are kept. */
  readonly directory: string;
  /** The folder that keeps Kafka's programs between runs. */
  readonly cache: string;
  readonly mailDirectory: string;
  readonly say: (line: string) => void;
}

/** Starts the servers of the Compose file: Postgres, Kafka, Redis, and one each that accepts mail and spans. */
export async function startServers({ file, directory, cache, mailDirectory, say }: ServersOptions): Promise<Servers> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    await Promise.allSettled(stops.splice(0).map((one) => one()));
  };
  /** Registers a server as soon as it runs, so that it is stopped when another one fails. */
  const kept = <S extends { stop(): Promise<unknown> }>(server: S): S => {
    stops.push(() => server.stop());
    return server;
  };
  const started = await Promise.allSettled([
    startPostgres({
      directory: join(directory, 'postgres'),
      password: file.services.postgres?.environment.POSTGRES_PASSWORD ?? '',
      settings: settingsIn(file.services.postgres?.command ?? []),
      say,
    }).then(kept),
    findKafka({ directory: join(directory, 'kafka'), cache, say })
      .then(needed)
      .then(kept),
    findRedis({ directory: join(directory, 'redis'), say })
      .then(needed)
      .then(kept),
    startMailCatcher(mailDirectory).then(kept),
    startTraceCollector().then(kept),
  ]);
  const [postgres, kafka, redis, mail, traces] = started;
  if (
    postgres.status === 'fulfilled' &&
    kafka.status === 'fulfilled' &&
    redis.status === 'fulfilled' &&
    mail.status === 'fulfilled' &&
    traces.status === 'fulfilled'
  ) {
    return {
      addresses: new Map([
        ['postgres:5432', `127.0.0.1:${postgres.value.port}`],
        ['kafka:9092', kafka.value.url],
        ['redis:6379', new URL(redis.value.url).host],
        ['mailpit:1025', `127.0.0.1:${mail.value.port}`],
        ['jaeger:4318', new URL(traces.value.url).host],
      ]),
      found: [
        ['Postgres', `our own, port ${postgres.value.port}`],
        ['Kafka', kafka.value.found],
        ['Redis', redis.value.found],
        ['Traces', `${traces.value.url}/traces/<the trace_id of a line in a log>`],
      ],
      stop,
    };
  }
  await stop();
  throw started.find((one) => one.status === 'rejected')?.reason;
}

function needed(server: Found | Missing): Found {
  if ('missing' in server) throw new Error(server.missing);
  return server;
}

/** `postgres -c name=value …` */
function settingsIn(command: readonly string[]): Record<string, string> {
  const pairs = command.filter((_, index) => command[index - 1] === '-c').map((word) => word.split('='));
  return Object.fromEntries(pairs.map(([name = '', ...value]) => [name, value.join('=')]));
}
