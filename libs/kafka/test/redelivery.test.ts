import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  brokers,
  counting,
  createNode,
  endAfterEach,
  expectOnceInOrder,
  kafka,
  newPrefix,
  openTestDatabase,
  pause,
  plainKafka,
  range,
  recording,
  things,
  withKafka,
} from '@attribution/messaging/testing';
import { startKafka } from '@attribution/servers';
import { captureLogs } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { api, refuseProduced, startWire, type Wire } from './support-wire.ts';

const ending = endAfterEach();

/** By what the groups of a broker know their consumers. */
async function membersAt(at: readonly string[]): Promise<string[]> {
  const admin = plainKafka([...at]).admin();
  await admin.connect();
  try {
    const { groups } = await admin.listGroups();
    const described = await admin.describeGroups(groups.map(({ groupId }) => groupId));
    return described.groups.flatMap(({ members }) => members.map(({ memberId }) => memberId)).toSorted();
  } finally {
    await admin.disconnect();
  }
}

/** A service over a broker, and a flow of events from it to itself. */
async function open(at: readonly string[], sessionTimeout = 6_000) {
  const { topic, type, number } = things(3);
  const database = await openTestDatabase();
  ending.push(() => database.drop());
  const prefix = newPrefix();
  const { logger, text } = captureLogs();
  const sent = new Map(range(5).map((k) => [`key ${k}`, 0]));

  async function replica() {
    const { transport, deliveries, total } = counting(kafka(prefix, [...at], { logger, sessionTimeout }));
    transport.declare([topic]);
    const node = createNode({ database, transport, handlers: [recording(type, 'campaign')] });
    await transport.start();
    ending.push(() => transport.close());
    ending.push(() => node.relay.stop(Date.now() + 2_000));
    return { ...node, transport, deliveries, total };
  }
  const first = await replica();
  first.relay.start();

  return {
    database,
    sent,
    first,
    replica,
    log: text,
    /** Sends so many events of each key, one after the other. */
    async send(count: number): Promise<void> {
      for (let left = count; left > 0; left--) {
        await first.send(...[...sent].map(([key, n]) => number(key, n)));
        for (const [key, n] of sent) sent.set(key, n + 1);
        await pause(5);
      }
    },
    effects: () => expectOnceInOrder(database, sent),
    sentCount: () => [...sent.values()].reduce((sum, count) => sum + count, 0),
  };
}

async function openWire(): Promise<Wire> {
  const wire = await startWire(brokers?.[0] ?? '');
  ending.push(() => wire.stop());
  return wire;
}

withKafka(
  'events whose acknowledgements are lost take effect once, in order, although many are delivered more than once',
  async () => {
    const wire = await openWire();
    const { first, send, effects, sentCount } = await open([wire.broker]);
    let answers = 0;
    wire.disturb(({ api: kind, isAnswer }) =>
      kind === api.produce && isAnswer && ++answers % 3 === 0 ? 'cut' : 'pass',
    );
    await send(60);
    while (answers < 6) await send(1); // A slow start may have let all of them wait for one batch.
    await effects();
    expect(first.deliveries.size).toBe(sentCount());
    expect(first.total()).toBeGreaterThan(sentCount());
  },
);

withKafka(
  'effects whose offsets could not be committed happen once, although all of their events are delivered again',
  async () => {
    const wire = await openWire();
    const { first, replica, send, effects, sentCount } = await open([wire.broker]);
    wire.disturb(({ api: kind, isAnswer }) => (kind === api.offsetCommit && !isAnswer ? 'cut' : 'pass'));
    await send(4);
    await effects();
    await first.transport.stopConsuming();
    expect(first.deliveries.size).toBe(sentCount());

    wire.disturb(() => 'pass');
    const second = await replica();
    await send(2);
    await effects();
    expect(second.deliveries.size).toBe(sentCount()); // From the very first.
  },
);

/** Kafka's error codes for a producer whose sequence numbers the broker does not accept. */
const broken: [string, number][] = [
  ['out-of-order sequence', 45],
  ['unknown producer id', 59],
];

(brokers ? test : test.skip).each(broken)(
  'a producer that gets %s is replaced and continues: nothing is lost, nothing takes effect twice',
  async (_name, code) => {
    const wire = await openWire();
    const { first, send, effects, sentCount, log } = await open([wire.broker]);
    await send(5);
    let refusals = 0;
    wire.disturb(({ api: kind, isAnswer, bytes }) => {
      if (kind === api.produce && isAnswer && ++refusals <= 2) refuseProduced(bytes, code);
      return 'pass';
    });
    while (refusals <= 2) await send(1);
    await effects();
    expect(log().split('another has taken its place').length - 1).toBe(2);
    // What was refused had been written, and was written again.
    expect(first.total()).toBeGreaterThan(sentCount());
  },
);

withKafka(
  'a broker that is killed and started again in the middle of a flow loses nothing, doubles nothing, and finds everybody at their places',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'messaging-kafka-'));
    ending.push(() => rm(directory, { recursive: true, force: true }));
    const broker = await startKafka({ directory, cache: join(import.meta.dirname, '../../../.cache') });
    ending.push(() => broker.stop());
    const { send, effects, first, sentCount } = await open(broker.brokers, 60_000); // Long enough that no consumer loses its place meanwhile.
    await send(20);
    await effects();
    const before = await membersAt(broker.brokers);
    const flow = send(200);
    await pause(300);
    broker.signal('SIGKILL');
    await pause(3_000); // Longer than kafkajs goes on trying: every consumer is replaced.
    await broker.restart();
    await flow;
    await effects();
    expect(first.deliveries.size).toBe(sentCount());
    expect(before).toHaveLength(1);
    expect(await membersAt(broker.brokers)).toEqual(before);
  },
);
