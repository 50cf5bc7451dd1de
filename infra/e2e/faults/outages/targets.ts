import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registeredNames } from '@attribution/registry';
import { freePort } from '@attribution/servers';
import { installAudit } from '../crash/check/audit.ts';
import type { Databases } from '../crash/check/databases.ts';
import { startFleet } from '../fleet.ts';
import { createMember, type Ending, type Member } from '../member.ts';
import type { Cluster } from './cluster.ts';

/** A platform on which an outage is tried. */
export interface Target {
  readonly name: string;
  /** The URL of a gateway. */
  readonly url: string;
  readonly members: readonly Member[];
  readonly mailDirectory: string;
  /** The URLs of the audited databases. */
  readonly databases: Databases;
  /** Sends SIGTERM and resolves with how each process ended. */
  stop(): Promise<readonly Ending[]>;
}

/** The whole platform in one process. */
export async function startEmbedded(cluster: Cluster, statementTimeout: number): Promise<Target> {
  const mailDirectory = await mkdtemp(join(tmpdir(), 'outage-mail-'));
  const databases: Record<string, string> = {};
  for (const service of registeredNames) databases[service] = await cluster.database(service);
  const platform = createMember({
    program: 'infra/e2e/faults/outages/platform.process.ts',
    port: await freePort(),
    environment: {
      DATABASES: JSON.stringify(databases),
      DATABASE_STATEMENT_TIMEOUT_MS: String(statementTimeout),
      MAIL_DIR: mailDirectory,
      BCRYPT_COST: '4',
    },
  });
  const stop = async () => {
    const ending = await platform.end('SIGTERM');
    await rm(mailDirectory, { recursive: true, force: true });
    return [ending];
  };
  try {
    platform.start();
    await platform.alive();
    await installAudit(databases);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name: 'one process', url: platform.url, members: [platform], mailDirectory, databases, stop };
}

/** One process for each service, over Kafka. */
export async function startSeparate(cluster: Cluster, kafkaBrokers: readonly string[]): Promise<Target> {
  const databases: Record<string, string> = {};
  const fleet = await startFleet({
    kafkaBrokers,
    async database(service) {
      const url = await cluster.database(`fleet_${service}`);
      databases[service] = url;
      return url;
    },
    environment: { LOG_LEVEL: 'warn' },
  });
  await installAudit(databases);
  const { gateways, members, mailDirectory, stop } = fleet;
  return { name: 'a fleet', url: gateways[0].url, members, mailDirectory, databases, stop };
}
