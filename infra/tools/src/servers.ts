import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@attribution/database';
import {
  type Found,
  findBenchProgram,
  findFaketime,
  findFfmpeg,
  findJudge,
  findKafka,
  findMounts,
  findRedis,
  findSchemathesis,
  findStripeMock,
  findToxiproxy,
  findVersitygw,
  type Missing,
  startPostgres,
} from '@attribution/servers';
import { templateName } from '@attribution/testing';
import pg from 'pg';
import { migrationsFolder, root, services } from './workspace.ts';

/** The servers that were found or started, and those that are missing. */
export interface Provided {
  /** Variables for the tests. */
  readonly environment: Readonly<Record<string, string>>;
  /** Lines that name each missing server and how to get it. */
  readonly missing: readonly string[];
}

export interface ProvidedServers extends Provided {
  stop(): Promise<void>;
}

export interface StartingServers {
  /** Postgres and Redis, which run within seconds. */
  readonly first: Promise<Provided>;
  /** All servers. On a new machine some are downloaded and built first, which takes a minute or two. */
  readonly all: Promise<Provided>;
  /** Waits for servers that are still starting, and stops all. */
  stop(): Promise<void>;
}

/** The variables by which tests find the servers, in the order in which missing ones are reported. */
const variables = {
  Postgres: 'TEST_POSTGRES_URL',
  Redis: 'TEST_REDIS_URL',
  Kafka: 'TEST_KAFKA_BROKERS',
  Schemathesis: 'TEST_SCHEMATHESIS',
  'stripe-mock': 'STRIPE_MOCK_URL',
  Toxiproxy: 'TEST_TOXIPROXY_URL',
  versitygw: 'TEST_S3_URL',
  ffmpeg: 'TEST_FFMPEG',
  libfaketime: 'TEST_FAKETIME',
  'Small file systems': 'TEST_MOUNTS',
  promtool: 'TEST_PROMTOOL',
  amtool: 'TEST_AMTOOL',
  wrk: 'TEST_WRK',
  nginx: 'TEST_NGINX',
} as const;
type Name = keyof typeof variables;
type Outcome = readonly [Name, Found | Missing];

/** The servers of the first turn. */
const early = ['Postgres', 'Redis'] as const satisfies readonly Name[];
const later = (Object.keys(variables) as Name[]).filter((name) => !early.some((one) => one === name));
/** The variables of all other servers. */
export const laterVariables = later.map((name) => variables[name]);

/** Finds or starts all servers and programs that the tests use, and resolves when they are ready. */
export async function provideServers(say: (line: string) => void): Promise<ProvidedServers> {
  const servers = await startServers(say);
  try {
    return { ...(await servers.all), stop: servers.stop };
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

/** Begins to find or start the servers, and reports each one when it is ready. */
export async function startServers(say: (line: string) => void): Promise<StartingServers> {
  const directory = await mkdtemp(join(tmpdir(), 'attribution-tests-'));
  const cache = join(root, '.cache');
  await mkdir(cache, { recursive: true });
  const starting: { readonly [name in Name]: Promise<Found | Missing> } = {
    Postgres: providePostgres(directory, say),
    Redis: findRedis({ directory: join(directory, 'redis'), say }),
    Kafka: findKafka({ directory: join(directory, 'kafka'), cache, say }),
    Schemathesis: findSchemathesis({ cache, say }),
    'stripe-mock': findStripeMock({ directory: join(directory, 'stripe-mock'), cache, say }),
    Toxiproxy: findToxiproxy({ directory: join(directory, 'toxiproxy'), cache, say }),
    versitygw: findVersitygw({ directory: join(directory, 'versitygw'), cache, say }),
    ffmpeg: findFfmpeg({ say }),
    libfaketime: findFaketime({ say }),
    'Small file systems': findMounts({ say }),
    promtool: findJudge('promtool', { cache, say }),
    amtool: findJudge('amtool', { cache, say }),
    wrk: findBenchProgram('wrk', { say }),
    nginx: findBenchProgram('nginx', { say }),
  };
  async function find(name: Name): Promise<Outcome> {
    const server = await starting[name];
    if ('found' in server) say(`${name}: ${server.found}`);
    return [name, server];
  }
  const first = Promise.all(early.map(find));
  const all = Promise.all([first, Promise.all(later.map(find))]).then((found) => provided(found.flat()));
  all.catch(() => {}); // Callers that await `all` get the error.
  return {
    first: first.then(provided),
    all,
    async stop() {
      const ended = await Promise.allSettled(Object.values(starting));
      const servers = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      await Promise.all(servers.map((server) => ('stop' in server ? server.stop() : undefined)));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function provided(found: readonly Outcome[]): Provided {
  const environment: Record<string, string> = {};
  const missing: string[] = [];
  for (const [name, server] of found) {
    if ('missing' in server) missing.push(`${name}: ${server.missing}`);
    else environment[variables[name]] = server.url;
  }
  return { environment, missing };
}

/** Takes a given server or starts one, and creates the migrated database of each service for test files to copy. */
async function providePostgres(directory: string, say: (line: string) => void): Promise<Found> {
  const server = process.env.TEST_POSTGRES_URL
    ? givenPostgres(process.env.TEST_POSTGRES_URL)
    : await ownPostgres(directory, say);
  for (const service of services) {
    const url = new URL(server.url);
    url.pathname = `/${templateName(service)}`;
    await recreate(server.url, templateName(service));
    await migrate({ url: url.href, directory: migrationsFolder(service) });
  }
  return server;
}

const givenPostgres = (url: string): Found => ({ url, found: 'given by TEST_POSTGRES_URL', stop: async () => {} });

async function ownPostgres(directory: string, say: (line: string) => void): Promise<Found> {
  const server = await startPostgres({
    directory: join(directory, 'postgres'),
    password: randomBytes(16).toString('hex'), // Like no path or word: tests look for it in logs.
    durable: false,
    settings: { max_connections: '500' }, // Four files at a time, and the platform of one may have over a hundred.
    say,
  });
  return { url: server.url('postgres'), found: `our own, port ${server.port}`, stop: () => server.stop() };
}

async function recreate(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
}
