/**
 * What the pipeline is measured beside: kafkajs alone. A producer sends batches as large as the relay's, one in flight,
 * acknowledged by all replicas; a consumer of batches counts. Topic, partitions, keys, headers and bytes are the same,
 * made before the clock starts; nothing is read, parsed or written.
 */
import { relayBatchSize } from '@attribution/messaging';
import { Kafka, logLevel, type Message } from 'kafkajs';
import { serveCommands } from './commands.ts';
import { streamOf } from './events.ts';
import { idleCost } from './idle-cost.ts';

const { BROKERS = '', TOPIC_PREFIX = '', STREAM } = process.env;
const stream = streamOf(STREAM);
const topic = TOPIC_PREFIX + stream.topic.name;
const kafka = new Kafka({ clientId: 'bench', brokers: BROKERS.split(','), logLevel: logLevel.ERROR });

const admin = kafka.admin();
await admin.connect();
await admin.createTopics({
  waitForLeaders: true,
  topics: [{ topic, numPartitions: stream.topic.partitions, replicationFactor: 1 }],
});
await admin.disconnect();
const producer = kafka.producer({ allowAutoTopicCreation: false, maxInFlightRequests: 1 });
await producer.connect();

const received = { count: 0, awaited: Number.POSITIVE_INFINITY, all: () => {} };
const consumer = kafka.consumer({ groupId: `${topic}.bench`, maxWaitTimeInMs: 250 });
await consumer.connect();
await consumer.subscribe({ topics: [topic], fromBeginning: true });
const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
await consumer.run({
  partitionsConsumedConcurrently: 4,
  async eachBatch({ batch }) {
    received.count += batch.messages.length;
    if (received.count >= received.awaited) received.all();
  },
});
await joined;

function newMessage(): Message {
  const { envelope } = stream.next().message;
  return {
    key: envelope.key,
    value: JSON.stringify(envelope),
    headers: { event_id: envelope.event_id, type: envelope.type },
  };
}

let batches: Message[][] = [];

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
    for (const messages of batches) await producer.sendBatch({ topicMessages: [{ topic, messages }], acks: -1 });
    await all;
    return { rate: (events / (performance.now() - start)) * 1_000 };
  },
  /** Milliseconds of the processor that each second costs while nothing is sent. */
  idle: ({ seconds = 1 }) => idleCost(seconds),
});
