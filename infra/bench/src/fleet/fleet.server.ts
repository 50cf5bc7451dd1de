/**
 * Runs the processes of docker-compose.yml as `npm run fleet` does, one of each, on a Postgres of their own and the
 * benchmarks' Kafka and Redis. Each service has a second database, migrated and empty, for the bare handlers.
 * `POST /describe` returns all addresses. As in production, a tenth of the requests is traced.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '@attribution/database';
import { completeSecrets, readCompose, startFleet, startServers } from '@attribution/fleet';
import { onStopSignal } from '@attribution/runtime';
import { freePort } from '@attribution/servers';
import pg from 'pg';
import { given } from '../gateway/environment.ts';
import { serveCommands } from '../messaging/commands.ts';
import { type FleetDescription, type MeasuredService, measuredServices } from './description.ts';

const root = join(import.meta.dirname, '../../../..');
const directory = given('DIRECTORY');
const say = (line: string) => console.error(`  ${line}`);
const secrets = completeSecrets({});
const port = await freePort();
const file = readCompose(await readFile(join(root, 'docker-compose.yml'), 'utf8'), {
  ...secrets,
  GATEWAY_PORT: String(port),
  DEVICE_PORT: String(await freePort()),
  PAYMENTS_PORT: String(await freePort()),
  OTEL_TRACES_SAMPLER_ARG: '0.1',
  KAFKA_TOPIC_PREFIX: `bench-fleet-${randomBytes(4).toString('hex')}.`,
});
const servers = await startServers({
  file,
  directory,
  cache: join(root, '.cache'),
  mailDirectory: join(directory, 'mail'),
  say,
});
const admin = (file.services.databases?.environment.ADMIN_DATABASE_URL ?? '').replace(
  'postgres:5432',
  servers.addresses.get('postgres:5432') ?? '',
);
const databaseUrl = (name: string) => Object.assign(new URL(admin), { pathname: `/${name}` }).href;

async function createBareDatabase(service: MeasuredService): Promise<string> {
  const client = new pg.Client({ connectionString: admin });
  await client.connect();
  await client.query(`CREATE DATABASE bare_${service}`).finally(() => client.end());
  const url = databaseUrl(`bare_${service}`);
  await migrate({ url, directory: join(root, 'services', service, 'prisma/migrations') });
  return url;
}

const bare = await Promise.all(measuredServices.map(async (name) => [name, await createBareDatabase(name)] as const));
const fleet = await startFleet({ file, directory, replicas: 1, servers: servers.addresses, say });
const description: FleetDescription = {
  gateway: `http://127.0.0.1:${port}`,
  tokenKeys: secrets.TOKEN_PRIVATE_KEYS ?? '',
  databases: Object.fromEntries(
    bare.map(([name, url]) => [name, { fleet: databaseUrl(name), bare: url }]),
  ) as FleetDescription['databases'],
  processes: fleet.processes,
};
serveCommands({ describe: async () => description });
onStopSignal(async () => {
  await fleet.stop();
  await servers.stop();
}, 60_000);
