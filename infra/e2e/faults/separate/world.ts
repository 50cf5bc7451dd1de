import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { completeSecrets, deviceRootIn, type FleetOptions, readCompose, startFleet } from '@attribution/fleet';
import { registeredNames } from '@attribution/registry';
import { freePort } from '@attribution/servers';
import { compileCache } from '../compile-cache.ts';
import { installAudit } from '../crash/check/audit.ts';
import type { Databases } from '../crash/check/databases.ts';
import type { Lab } from '../experiment.ts';
import { type Processes, processesOf } from './processes.ts';
import { openServers, type Servers } from './servers.ts';
import { layWires, type Way } from './wires.ts';

export interface WorldOptions {
  readonly say: Lab['say'];
  /** Gets the end of each process's log when the fleet has stopped. Default: nobody does. */
  readonly note?: Lab['note'];
  /** The number of replicas of every long-running process. Default: 2. */
  readonly replicas?: number;
  /** The ways that get a proxy: see `SeparateWorld.wire`. */
  readonly ways?: readonly Way[];
  /** Variables for every process, in addition to those of the Compose file. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Called at every start of a process, also when it is restarted; may change its command and environment. */
  readonly adjust?: NonNullable<FleetOptions['adjust']>;
  /** Called when the servers are running, before the fleet is started. */
  readonly prepare?: (servers: Servers) => Promise<void>;
}

/** A fresh fleet of the processes in docker-compose.yml, on its own servers, with audited databases. */
export interface SeparateWorld {
  /** The URL of the balancer in front of the gateways. */
  readonly url: string;
  /** Where devices come in, and the root that they check it by, as PEM. */
  readonly devices: { readonly url: string; readonly ca: string };
  readonly servers: Servers;
  readonly mailDirectory: string;
  /** The database URL of each service. */
  readonly databases: Databases;
  readonly processes: Processes;
  readonly topicPrefix: string;
  /** The proxy of one of the ways given in the options. */
  wire: Awaited<ReturnType<typeof layWires>>['wire'];
  close(): Promise<void>;
}

/** Of each log, in characters. */
const keptOfLog = 20_000;

const root = join(import.meta.dirname, '../../../..');
const topicPrefix = 'shake.';

export async function openSeparate(options: WorldOptions): Promise<SeparateWorld> {
  const { say, replicas = 2, ways = [] } = options;
  const secrets = completeSecrets({});
  const [gatewayPort, devicePort, paymentsPort] = [await freePort(), await freePort(), await freePort()];
  const file = readCompose(await readFile(join(root, 'docker-compose.yml'), 'utf8'), {
    ...secrets,
    GATEWAY_PORT: String(gatewayPort),
    DEVICE_PORT: String(devicePort),
    PAYMENTS_PORT: String(paymentsPort),
    LOG_LEVEL: 'warn',
  });
  const servers = await openServers(secrets.POSTGRES_PASSWORD ?? '', say);
  const wires = await layWires(ways);
  const stops: (() => Promise<unknown>)[] = [() => servers.stop(), () => wires.stop()];
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  const adjust: FleetOptions['adjust'] = (launch, addresses) => {
    const wired = wires.adjust(launch, addresses);
    // No collector is running.
    const { OTEL_EXPORTER_OTLP_ENDPOINT: _, ...own } = wired.environment;
    const environment = {
      ...own,
      ...compileCache,
      ...(own.KAFKA_BROKERS && { KAFKA_TOPIC_PREFIX: topicPrefix }),
      ...(own.SERVICE === 'account' && own.ROLE !== 'migrate' && { BCRYPT_COST: '4' }),
      ...options.environment,
    };
    return options.adjust?.({ ...wired, environment }, addresses) ?? { ...wired, environment };
  };
  try {
    await options.prepare?.(servers);
    const directory = join(servers.directory, 'fleet');
    const { note } = options;
    if (note) stops.push(() => noteLogs(join(directory, 'logs'), note));
    const fleet = await startFleet({
      bundled: true,
      file,
      directory,
      replicas,
      servers: servers.addresses,
      say: (line) => say(`  ${line}`),
      adjust,
    });
    stops.push(() => fleet.stop());
    const databases = Object.fromEntries(
      registeredNames.map((name) => {
        // The owner's: processes may not make the triggers that audit them.
        const url = file.services[`${name}-migrate`]?.environment.DATABASE_URL ?? '';
        return [name, url.replace('postgres:5432', `127.0.0.1:${servers.postgres.port}`)];
      }),
    );
    await installAudit(databases);
    const processes = processesOf(fleet);
    await processes.ready();
    return {
      url: `http://127.0.0.1:${gatewayPort}`,
      devices: { url: `https://127.0.0.1:${devicePort}`, ca: deviceRootIn(secrets) },
      servers,
      mailDirectory: servers.mailDirectory,
      databases,
      processes,
      topicPrefix,
      wire: wires.wire,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Without what Kafka's client says, of which there is much whenever processes come and go. */
async function noteLogs(directory: string, note: Lab['note']): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const lines = (await readFile(join(directory, name), 'utf8')).split('\n');
    const own = lines.filter((line) => line !== '' && !line.includes('"kafka":')).join('\n');
    if (own !== '') note(`${name}\n${own.slice(-keptOfLog)}`);
  }
}
