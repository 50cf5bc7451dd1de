import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@attribution/testing';
import { startFleet } from '../../fleet.ts';
import type { Member } from '../../member.ts';
import { installAudit } from '../check/audit.ts';
import { dropTopics, readTopics } from '../check/topics.ts';
import type { KillPoint } from '../kill/kill-points.ts';
import type { Victim, World } from './world.ts';

const requests = ['before commit', 'after commit'] as const;
const relay = ['after the relay claims', 'after produce before marking'] as const;
const consumer = ['mid-batch', 'after the effect before the offset'] as const;

/** Where a service is not killed wherever it can be. */
const points: Readonly<Record<string, readonly KillPoint[]>> = {
  account: [...requests, ...relay],
  billing: consumer,
};

/** A process each service, and the gateway, over Kafka. */
export async function openFleet(kafkaBrokers: readonly string[]): Promise<World> {
  const created: TestDatabase[] = [];
  const databases: Record<string, string> = {};
  const topicPrefix = `crash-${randomBytes(4).toString('hex')}.`;
  const fleet = await startFleet({
    kafkaBrokers,
    async database(service) {
      const database = await createTestDatabase(service);
      created.push(database);
      databases[service] = database.url;
      await installAudit({ [service]: database.url });
      return database.url;
    },
    environment: {
      KAFKA_TOPIC_PREFIX: topicPrefix,
      // How long a group waits for a consumer that was killed: what the broker allows at least.
      KAFKA_SESSION_TIMEOUT_MS: '6000',
      LOG_LEVEL: 'warn',
    },
  });
  const services = Object.entries(fleet.services).map(([name, [member]]) => victimOf(name, member));
  return {
    url: fleet.gateways[0].url,
    mailDirectory: fleet.mailDirectory,
    victims: [gatewayOf(fleet.gateways[0]), ...services],
    well: () => fleet.gateways[0].alive(readyWithin),
    databases: async () => databases,
    published: () => readTopics(kafkaBrokers, topicPrefix),
    async close() {
      await fleet.stop();
      await dropTopics(kafkaBrokers, topicPrefix);
      await Promise.all(created.map((database) => database.drop()));
    },
  };
}

/** Milliseconds that a process may take until its parts work. */
const readyWithin = 30_000;

function victimOf(name: string, member: Member): Victim {
  return {
    name,
    member,
    points: points[name] ?? [...requests, ...relay, ...consumer],
    async well() {
      await member.alive();
      await answers(member, '/readyz', (status) => status === 200);
    },
    kill: async () => void (await member.end('SIGKILL')),
  };
}

/** A gateway is well by itself when it answers: those behind it may just be down. */
function gatewayOf(member: Member): Victim {
  return {
    name: 'gateway',
    member,
    points: [],
    well: () => answers(member, '/healthz', () => true),
    kill: async () => void (await member.end('SIGKILL')),
  };
}

async function answers(member: Member, path: string, wanted: (status: number) => boolean): Promise<void> {
  const url = member.url + path;
  for (const deadline = Date.now() + readyWithin; ; await sleep(50)) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer && wanted(answer.status)) return;
    if (Date.now() > deadline) throw new Error(`${url} answers ${answer?.status}\n${member.output.slice(-4_000)}`);
  }
}
