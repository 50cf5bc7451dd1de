import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '@attribution/bench';
import { startKafka } from '@attribution/servers';
import { createTestDatabase, type TestDatabase } from '@attribution/testing';
import { installAudit } from '../crash/check/audit.ts';
import { type Databases, rowsOf } from '../crash/check/databases.ts';
import { readTopics } from '../crash/check/topics.ts';
import type { Experiment, Finding, Lab } from '../experiment.ts';
import { type Fleet, startFleet } from '../fleet.ts';
import type { Exchange } from '../outages/exchange.ts';
import { newOwner } from '../outages/owner.ts';
import { startTraffic } from '../outages/traffic.ts';
import { judge } from '../outages/verdict.ts';

type Broker = Awaited<ReturnType<typeof startKafka>>;

/** How the broker is unavailable. If it hangs, connections stay open and nothing responds. */
const ways = ['killed', 'hung'] as const;

/** In milliseconds: from the broker's return until every event has taken effect, and from SIGTERM to the end of a process. */
const bars = { caughtUp: 30_000, stopped: 10_000 };

interface Form {
  /** Milliseconds: how long the broker is away; a latency of writes that always passes; and from a service's start until it is ready. */
  readonly away: number;
  readonly latency: number;
  readonly ready: number;
  /** The latency of writes that is judged. */
  readonly judged: string;
  latencyOf(exchanges: readonly Exchange[]): number;
}
/**
 * The short form runs beside other tests, where the slowest requests say what the machine did. It only tells a kind of write
 * that waits for the broker from one that does not.
 */
const forms: Record<'short' | 'long', Form> = {
  short: {
    away: 2_500,
    latency: 1_250,
    ready: 3 * bars.stopped,
    judged: 'median of the slowest kind',
    latencyOf: slowestKind,
  },
  long: { away: 60_000, latency: 100, ready: bars.stopped, judged: 'p99', latencyOf: p99 },
};

/** Makes the broker unavailable while writes continue. */
export const kafka: Experiment = {
  name: 'kafka',
  rounds: { short: 1, long: 2 },
  needs: ['kafka'],
  async run(lab) {
    const directory = await mkdtemp(join(tmpdir(), 'outage-kafka-'));
    const cache = join(import.meta.dirname, '../../../../.cache');
    const broker = await startKafka({ directory, cache, say: lab.say });
    try {
      const findings: Finding[] = [];
      for (let round = 0; round < lab.rounds; round++) {
        findings.push(
          ...(await withFleet(broker, lab.long, (world) => outage(ways[round % 2] ?? 'killed', world, lab))),
        );
      }
      return findings;
    } finally {
      await broker.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

interface World {
  readonly broker: Broker;
  readonly fleet: Fleet;
  readonly databases: Databases;
  readonly topicPrefix: string;
}

async function withFleet<T>(broker: Broker, long: boolean, work: (world: World) => Promise<T>): Promise<T> {
  const topicPrefix = `outage-${process.hrtime.bigint()}.`;
  const created: TestDatabase[] = [];
  const databases: Record<string, string> = {};
  const fleet = await startFleet({
    kafkaBrokers: broker.brokers,
    async database(service) {
      const database = await createTestDatabase(service);
      created.push(database);
      databases[service] = database.url;
      return database.url;
    },
    environment: {
      KAFKA_TOPIC_PREFIX: topicPrefix,
      LOG_LEVEL: 'warn',
      // The broker's minimum. A consumer group waits this long for a consumer that has disappeared.
      ...(!long && { KAFKA_SESSION_TIMEOUT_MS: '6000' }),
    },
  });
  try {
    await installAudit(databases);
    return await work({ broker, fleet, databases, topicPrefix });
  } finally {
    await fleet.stop();
    await Promise.all(created.map((database) => database.drop()));
  }
}

async function outage(way: (typeof ways)[number], world: World, lab: Lab): Promise<Finding[]> {
  const { broker, fleet, databases } = world;
  const [{ url }] = fleet.gateways;
  const { token } = await newOwner(url, fleet.mailDirectory);
  const traffic = startTraffic({ url, token: () => token, pause: 15 });
  await sleep(lab.long ? 1_000 : 500); // Time for the code to be compiled.
  traffic.take();
  await sleep(lab.long ? 15_000 : 1_000);
  const before = traffic.take();

  const { away, ...form } = forms[lab.long ? 'long' : 'short'];
  broker.signal(way === 'killed' ? 'SIGKILL' : 'SIGSTOP');
  await sleep(away);
  const until = performance.now();
  const during = traffic.take();
  const healthy = await statuses(fleet);
  const waiting = await outboxes(databases);
  lab.say(`  ${way}: ${during.length} requests meanwhile, ${waiting} events wait`);
  // One service is restarted while the broker is unavailable; the others have to reconnect without a restart.
  const stopped = await stopAndStart(fleet, databases);

  if (way === 'hung') broker.signal('SIGCONT');
  else await broker.restart();
  await fleet.gateways[0].alive();
  const later = traffic.take();
  await sleep(lab.long ? 10_000 : 500);
  const after = traffic.take();
  await traffic.stop();
  const verdict = await judge({
    databases,
    acknowledged: traffic.acknowledged,
    timeoutMs: 2 * bars.caughtUp,
    published: () => readTopics(broker.brokers, world.topicPrefix),
    say: lab.say,
  });

  const [usual, meanwhile] = [
    form.latencyOf(before),
    form.latencyOf([...during, ...[...later, ...after].filter(({ at }) => at < until)]), // Also what still waited.
  ];
  const failed = [...before, ...during, ...after].filter(({ outcome }) => outcome !== 'done');
  const kinds = Object.entries(Object.groupBy(failed, (one) => `${one.what}: ${one.outcome}`));
  return [
    {
      what: `Kafka ${way} for ${seconds(away)}, a fleet`,
      tried: during.length,
      found: [
        `failed ${failed.length}`,
        ...kinds.slice(0, 5).map(([kind, list]) => `${list?.length} × ${kind}`),
        `${form.judged} ${usual.toFixed(0)} ms before, ${meanwhile.toFixed(0)} ms meanwhile`,
        `${waiting} events waited, all had their effect ${seconds(verdict.caughtUp)} after`,
        `health meanwhile ${healthy.join(', ')}`,
        verdict.text,
      ].join('; '),
      bar: `none failed; ${form.judged} ≤ 2 ×, or ${form.latency} ms; caught up within ${seconds(bars.caughtUp)}; 200 throughout; nothing lost`,
      holds:
        failed.length === 0 &&
        waiting > 0 &&
        meanwhile <= Math.max(2 * usual, form.latency) &&
        verdict.caughtUp <= bars.caughtUp &&
        healthy.every((status) => status === 200) &&
        verdict.clean,
    },
    {
      what: `A service stopped and started while Kafka is ${way}`,
      tried: 1,
      found: `exit ${stopped.ending} after ${seconds(stopped.took)}, ${stopped.lost} of its events gone, ready again after ${seconds(stopped.ready)}`,
      bar: `exit 0 within ${seconds(bars.stopped)}, events kept, ready without the broker`,
      holds: stopped.ending === 0 && stopped.took <= bars.stopped && stopped.lost === 0 && stopped.ready < form.ready,
    },
  ];
}

/** The statuses of each service's /readyz and of the gateway's /healthz. */
async function statuses(fleet: Fleet): Promise<number[]> {
  const services = Object.values(fleet.services).map(([member]) => `${member.url}/readyz`);
  const asked = [...services, `${fleet.gateways[0].url}/healthz`].map(async (url) => {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.status;
  });
  return Promise.all(asked);
}

async function outboxes(databases: Databases): Promise<number> {
  const counts = await Promise.all(
    Object.values(databases).map((url) => rowsOf<{ n: number }>(url, 'SELECT count(*)::int AS n FROM outbox')),
  );
  return counts.reduce((sum, [row]) => sum + (row?.n ?? 0), 0);
}

async function stopAndStart(fleet: Fleet, databases: Databases) {
  const [member] = fleet.services.organization;
  const sql = `SELECT (SELECT count(*)::int FROM audit.notes WHERE relation = 'outbox') AS appended,
                      (SELECT count(*)::int FROM outbox) AS kept`;
  const gone = async () => {
    const [counts] = await rowsOf<{ appended: number; kept: number }>(databases.organization ?? '', sql);
    return counts ? counts.appended - counts.kept : Number.NaN;
  };
  const goneBefore = await gone();
  const stopping = performance.now();
  const ending = await member.end('SIGTERM');
  const took = performance.now() - stopping;
  const lost = (await gone()) - goneBefore;
  const starting = performance.now();
  member.start();
  for (let ok = false; !ok && performance.now() - starting < 3 * bars.stopped; await sleep(50))
    ok = await fetch(`${member.url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
  return { ending, took, lost, ready: performance.now() - starting };
}

const writesOf = (exchanges: readonly Exchange[]) => exchanges.filter(({ what }) => what !== 'read');
const quantileOf = (exchanges: readonly Exchange[], share: number) =>
  quantile(
    exchanges.map(({ ms }) => ms),
    share,
  );

function p99(exchanges: readonly Exchange[]): number {
  return quantileOf(writesOf(exchanges), 0.99);
}

/** The largest of the medians of each kind of write. */
function slowestKind(exchanges: readonly Exchange[]): number {
  const kinds = Object.values(Object.groupBy(writesOf(exchanges), ({ what }) => what));
  return Math.max(...kinds.map((kind = []) => quantileOf(kind, 0.5)));
}
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
