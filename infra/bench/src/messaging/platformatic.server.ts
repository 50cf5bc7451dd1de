/**
 * What `loop.server.ts` does with kafkajs, done by @platformatic/kafka, which could take its place: the same topic,
 * partitions, keys, headers and bytes, batches as large, one in flight, acknowledged by all replicas; a consumer counts.
 */
import { relayBatchSize } from '@attribution/messaging';
import {
  Admin,
  Consumer,
  compatibilityPartitioner,
  MessagesStreamModes,
  type MessageToProduce,
  ProduceAcks,
  Producer,
} from '@platformatic/kafka';
import { serveCommands } from './commands.ts';
import { streamOf } from './events.ts';
import { idleCost } from './idle-cost.ts';

const { BROKERS = '', TOPIC_PREFIX = '', STREAM } = process.env;
const stream = streamOf(STREAM);
const topic = TOPIC_PREFIX + stream.topic.name;
const cluster = { clientId: 'bench', bootstrapBrokers: BROKERS.split(',') };

const admin = new Admin(cluster);
await admin.createTopics({ topics: [topic], partitions: stream.topic.partitions, replicas: 1 });
await admin.close();
const producer = new Producer({ ...cluster, autocreateTopics: false, partitioner: compatibilityPartitioner });

const received = { count: 0, awaited: Number.POSITIVE_INFINITY, all: () => {} };
const consumer = new Consumer({ ...cluster, groupId: `${topic}.bench`, maxWaitTime: 250 });
const messages = await consumer.consume({ topics: [topic], mode: MessagesStreamModes.EARLIEST });
messages.on('data', () => {
  if (++received.count >= received.awaited) received.all();
});

function newMessage(): MessageToProduce<Buffer, Buffer, Buffer, Buffer> {
  const { envelope } = stream.next().message;
  const headers = { event_id: envelope.event_id, type: envelope.type };
  return {
    topic,
    key: Buffer.from(envelope.key),
    value: Buffer.from(JSON.stringify(envelope)),
    headers: new Map(Object.entries(headers).map(([name, value]) => [Buffer.from(name), Buffer.from(value)])),
  };
}

let batches: ReturnType<typeof newMessage>[][] = [];

serveCommands({
  async prepare({ events = 0 }) {
    batches = [];
    for (let left = events; left > 0; left -= relayBatchSize)
      batches.push(Array.from({ length: Math.min(relayBatchSize, left) }, newMessage));
    return {};
  },
  /** Events a second from the first batch to the last message that was received, of those that were prepared. */
  async drain({ events = 0 }) {
    const start = performance.now();
    const all = new Promise<void>((resolve) => {
      Object.assign(received, { count: 0, awaited: events, all: resolve });
    });
    for (const batch of batches) await producer.send({ messages: batch, acks: ProduceAcks.ALL });
    await all;
    return { rate: (events / (performance.now() - start)) * 1_000 };
  },
  /** Milliseconds of the processor that each second costs while nothing is sent. */
  idle: ({ seconds = 1 }) => idleCost(seconds),
});
