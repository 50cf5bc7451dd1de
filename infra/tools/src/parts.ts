import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@attribution/database';
import {
  findBenchProgram,
  findFaketime,
  findJudge,
  findKafka,
  findMounts,
  findRedis,
  findSchemathesis,
  findStripeMock,
  findToxiproxy,
  type NoPart,
  type Part,
  startPostgres,
} from '@attribution/servers';
import { templateName } from '@attribution/testing';
import pg from 'pg';
import { migrationsFolder, root, services } from './workspace.ts';

export interface TestParts {
  /** For the tests' environment. */
  readonly environment: Record<string, string>;
  /** Lines that say which parts are not there, and how to get them. */
  readonly missing: readonly string[];
  stop(): Promise<void>;
}

/** Finds or starts the real Postgres, Redis and Kafka that the tests talk to, and what else they use; says what it found. */
export async function provideParts(say: (line: string) => void): Promise<TestParts> {
  const directory = await mkdtemp(join(tmpdir(), 'attribution-tests-'));
  const cache = join(root, '.cache');
  await mkdir(cache, { recursive: true });
  const [postgres, redis, kafka, schemathesis, stripeMock, toxiproxy, faketime, mounts, promtool, amtool, wrk, nginx] =
    await Promise.all([
      providePostgres(directory, say),
      findRedis({ directory: join(directory, 'redis'), say }),
      findKafka({ directory: join(directory, 'kafka'), cache, say }),
      findSchemathesis({ cache, say }),
      findStripeMock({ directory: join(directory, 'stripe-mock'), cache, say }),
      findToxiproxy({ directory: join(directory, 'toxiproxy'), cache, say }),
      findFaketime({ say }),
      findMounts({ say }),
      findJudge('promtool', { cache, say }),
      findJudge('amtool', { cache, say }),
      findBenchProgram('wrk', { say }),
      findBenchProgram('nginx', { say }),
    ]);
  const environment: Record<string, string> = { TEST_POSTGRES_URL: postgres.url };
  const missing: string[] = [];
  say(`Postgres: ${postgres.found}`);
  take('Redis', 'TEST_REDIS_URL', redis);
  take('Kafka', 'TEST_KAFKA_BROKERS', kafka);
  take('Schemathesis', 'TEST_SCHEMATHESIS', schemathesis);
  take('stripe-mock', 'STRIPE_MOCK_URL', stripeMock);
  take('Toxiproxy', 'TEST_TOXIPROXY_URL', toxiproxy);
  take('libfaketime', 'TEST_FAKETIME', faketime);
  take('Small file systems', 'TEST_MOUNTS', mounts);
  take('promtool', 'TEST_PROMTOOL', promtool);
  take('amtool', 'TEST_AMTOOL', amtool);
  take('wrk', 'TEST_WRK', wrk);
  take('nginx', 'TEST_NGINX', nginx);

  function take(name: string, variable: string, part: Part | NoPart): void {
    if ('missing' in part) {
      missing.push(`${name}: ${part.missing}`);
      return;
    }
    environment[variable] = part.url;
    say(`${name}: ${part.found}`);
  }

  return {
    environment,
    missing,
    async stop() {
      await Promise.all(
        [postgres, redis, kafka, stripeMock, toxiproxy].map((part) => ('stop' in part ? part.stop() : undefined)),
      );
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A given server, or one of our own; with the migrated database of each service, for test files to copy. */
async function providePostgres(directory: string, say: (line: string) => void): Promise<Part> {
  const part = process.env.TEST_POSTGRES_URL
    ? givenPostgres(process.env.TEST_POSTGRES_URL)
    : await ownPostgres(directory, say);
  for (const service of services) {
    const url = new URL(part.url);
    url.pathname = `/${templateName(service)}`;
    await recreate(part.url, templateName(service));
    await migrate({ url: url.href, directory: migrationsFolder(service) });
  }
  return part;
}

const givenPostgres = (url: string): Part => ({ url, found: 'given by TEST_POSTGRES_URL', stop: async () => {} });

async function ownPostgres(directory: string, say: (line: string) => void): Promise<Part> {
  const server = await startPostgres({
    directory: join(directory, 'postgres'),
    password: 'tests',
    durable: false,
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
