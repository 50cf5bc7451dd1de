import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@attribution/testing';
import { startFleet } from '../../fleet.ts';
import { type Member, startTimeoutMs } from '../../member.ts';
import { installAudit } from '../check/audit.ts';
import { dropTopics, readTopics } from '../check/topics.ts';
import type { KillPoint } from '../kill/kill-points.ts';
import type { Victim, World } from './world.ts';

const requests = ['before commit', 'after commit'] as const;
const relay = ['after the relay claims', 'after produce before marking'] as const;
const consumer = ['mid-batch', 'after the effect before the offset'] as const;

/** The kill points of services that are not killed at all of them: one that people do not write to only consumes. */
const points: Readonly<Record<string, readonly KillPoint[]>> = {
  account: [...requests, ...relay],
  billing: consumer,
  device: consumer,
  events: consumer,
  utilities: consumer,
};

/** One process for each service and a gateway, over Kafka; not started yet. */
export async function openFleet(kafkaBrokers: readonly string[]): Promise<World> {
  const created: TestDatabase[] = [];
  const databases: Record<string, string> = {};
  const topicPrefix = `crash-${randomBytes(4).toString('hex')}.`;
  const fleet = await startFleet({
    kafkaBrokers,
    start: 'later',
    async database(service) {
      const database = await createTestDatabase(service);
      created.push(database);
      databases[service] = database.url;
      await installAudit({ [service]: database.url });
      return database.url;
    },
    environment: {
      KAFKA_TOPIC_PREFIX: topicPrefix,
      // The broker's minimum. A consumer group waits this long for a consumer that was killed.
      KAFKA_SESSION_TIMEOUT_MS: '6000',
      LOG_LEVEL: 'warn',
    },
  });
  const services = Object.entries(fleet.services).map(([name, [member]]) => victimOf(name, member));
  return {
    url: fleet.gateways[0].url,
    mailDirectory: fleet.mailDirectory,
    victims: [gatewayOf(fleet.gateways[0]), ...services],
    ready: () => fleet.gateways[0].alive(),
    databases: async () => databases,
    published: () => readTopics(kafkaBrokers, topicPrefix),
    async close() {
      await fleet.stop();
      await dropTopics(kafkaBrokers, topicPrefix);
      await Promise.all(created.map((database) => database.drop()));
    },
  };
}

function victimOf(name: string, member: Member): Victim {
  return {
    name,
    member,
    points: points[name] ?? [...requests, ...relay, ...consumer],
    async ready() {
      await member.alive();
      await answers(member, '/readyz', (status) => status === 200);
    },
    kill: async () => void (await member.end('SIGKILL')),
  };
}

/** A gateway is ready when it answers at all: the services behind it may be down at that moment. */
function gatewayOf(member: Member): Victim {
  return {
    name: 'gateway',
    member,
    points: [],
    ready: () => answers(member, '/healthz', () => true),
    kill: async () => void (await member.end('SIGKILL')),
  };
}

async function answers(member: Member, path: string, wanted: (status: number) => boolean): Promise<void> {
  const url = member.url + path;
  for (const deadline = Date.now() + startTimeoutMs; ; await sleep(50)) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer && wanted(answer.status)) return;
    if (Date.now() > deadline) throw new Error(`${url} answers ${answer?.status}\n${member.output.slice(-4_000)}`);
  }
}
