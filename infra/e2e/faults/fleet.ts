import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateInternalKeys } from '@attribution/auth';
import { newSecrets } from '@attribution/local';
import { type RegisteredName, registeredNames } from '@attribution/registry';
import { addressSetting } from '@attribution/runtime';
import { freePort } from '@attribution/servers';
import { anyService, createMember, type Member } from './member.ts';

export interface FleetOptions {
  readonly kafkaBrokers: readonly string[];
  readonly redisUrl?: string | undefined;
  /** Returns the URL of a service's database, which the service migrates when it starts. */
  readonly database: (service: RegisteredName) => Promise<string>;
  /** The number of processes of each service. Default: 1. */
  readonly replicas?: Partial<Record<RegisteredName, number>>;
  /** The number of gateways. The nth calls the nth process of each service, or the first if there are fewer. Default: 1. */
  readonly gateways?: number;
  /** `later`: the experiment starts the members. Default: `now`, and `startFleet` waits until all of it is ready. */
  readonly start?: 'now' | 'later';
  /** Variables of every process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * One process for each service over Kafka, behind gateways. Unlike `@attribution/fleet`, which runs the processes of
 * docker-compose.yml and restarts them, it leaves it to the experiment when and with which arguments a process starts.
 */
export interface Fleet {
  readonly gateways: readonly [Member, ...Member[]];
  readonly services: Readonly<Record<RegisteredName, readonly [Member, ...Member[]]>>;
  readonly members: readonly Member[];
  readonly mailDirectory: string;
  /** Sends SIGTERM to the running processes and deletes the files. Resolves with how each process ended. */
  stop(): Promise<readonly (number | NodeJS.Signals)[]>;
}

/** Prepares a fleet and starts it. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const secrets = newSecrets();
  const internalKeys = generateInternalKeys();
  const mailDirectory = await mkdtemp(join(tmpdir(), 'fleet-mail-'));
  const ports = new Map(await Promise.all(registeredNames.map(async (name) => [name, await freePort()] as const)));
  const shared = {
    ...Object.fromEntries([...ports].map(([name, port]) => [addressSetting(name), `http://127.0.0.1:${port}`])),
    TOKEN_PUBLIC_KEYS: secrets.token_keys.public,
    INTERNAL_PUBLIC_KEYS: JSON.stringify(internalKeys.public),
    KAFKA_BROKERS: options.kafkaBrokers.join(','),
    KAFKA_TOPIC_PREFIX: `fleet-${randomBytes(4).toString('hex')}.`,
    ...(options.redisUrl !== undefined && { REDIS_URL: options.redisUrl }),
    ...options.environment,
  };
  const own: Partial<Record<RegisteredName, Record<string, string>>> = {
    account: {
      TOKEN_PRIVATE_KEYS: secrets.token_keys.private,
      PASSWORD_PEPPER: secrets.password_pepper,
      SECRET_KEYS: secrets.secret_key,
      BCRYPT_COST: '4',
      MAIL_DIR: mailDirectory,
    },
    campaign: {
      MEDIA_DIR: join(mailDirectory, 'media'),
      MEDIA_URL_SECRET: randomBytes(32).toString('hex'),
    },
    device: { DEVICE_CA: secrets.device_ca },
    billing: {
      SIMULATED_PAYMENTS_FILE: join(mailDirectory, 'payments.sqlite'),
      SIMULATED_PAYMENTS_URL: 'http://127.0.0.1:0',
      STRIPE_WEBHOOK_SECRETS: `whsec_${randomBytes(16).toString('hex')}`,
    },
  };

  async function member(program: string, environment: Record<string, string>, port?: number): Promise<Member> {
    return createMember({ program, port: port ?? (await freePort()), environment: { ...shared, ...environment } });
  }

  const services = {} as Record<RegisteredName, [Member, ...Member[]]>;
  for (const name of registeredNames) {
    const keys = { INTERNAL_PRIVATE_KEYS: JSON.stringify(internalKeys.private[name]) };
    const environment = { SERVICE: name, ...own[name], ...keys, DATABASE_URL: await options.database(name) };
    const first = await member(anyService, environment, ports.get(name));
    services[name] = [first];
    for (let n = 1; n < (options.replicas?.[name] ?? 1); n++)
      services[name].push(await member(anyService, environment));
  }

  const edge = (index: number) =>
    member('gateway/src/main.ts', {
      INTERNAL_PRIVATE_KEYS: JSON.stringify(internalKeys.private.gateway),
      ...Object.fromEntries(
        registeredNames.map((name) => [addressSetting(name), (services[name][index] ?? services[name][0]).url]),
      ),
    });
  const gateways: [Member, ...Member[]] = [await edge(0)];
  for (let n = 1; n < (options.gateways ?? 1); n++) gateways.push(await edge(n));

  const members = [...Object.values(services).flat(), ...gateways];
  async function stop() {
    const endings = await Promise.all(members.map((one) => one.end('SIGTERM')));
    await rm(mailDirectory, { recursive: true, force: true });
    return endings;
  }
  if (options.start === 'later') return { gateways, services, members, mailDirectory, stop };
  try {
    for (const one of members) one.start();
    await Promise.all(gateways.map((gateway) => gateway.alive()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { gateways, services, members, mailDirectory, stop };
}
