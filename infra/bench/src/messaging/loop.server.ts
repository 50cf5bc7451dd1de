/**
 * The floor for the pipeline: kafkajs alone. A producer sends batches as large as the relay's, one in flight and
 * acknowledged by all replicas; a consumer counts messages. Topic, partitions, keys, headers and bytes are the same. The
 * messages are made before the clock starts, and nothing is parsed or written to a database.
 */
import { untilTopicsKnown } from '@attribution/kafka';
import { Kafka, logLevel, type Message } from 'kafkajs';
import { streamOf } from './events.ts';
import { newReceived, serveLoop } from './serve-loop.ts';

const { BROKERS = '', TOPIC_PREFIX = '', STREAM } = process.env;
const stream = streamOf(STREAM);
const topic = TOPIC_PREFIX + stream.topic.name;
const kafka = new Kafka({ clientId: 'bench', brokers: BROKERS.split(','), logLevel: logLevel.ERROR });

const admin = kafka.admin();
await admin.connect();
await admin.createTopics({
  waitForLeaders: false,
  topics: [{ topic, numPartitions: stream.topic.partitions, replicationFactor: 1 }],
});
await untilTopicsKnown(admin, [topic]);
await admin.disconnect();
const producer = kafka.producer({ allowAutoTopicCreation: false, maxInFlightRequests: 1 });
await producer.connect();

const received = newReceived();
const consumer = kafka.consumer({ groupId: `${topic}.bench`, maxWaitTimeInMs: 250 });
await consumer.connect();
await consumer.subscribe({ topics: [topic], fromBeginning: true });
const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
await consumer.run({
  partitionsConsumedConcurrently: 4,
  async eachBatch({ batch }) {
    received.add(batch.messages.length);
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

serveLoop({
  newMessage,
  send: (messages) => producer.sendBatch({ topicMessages: [{ topic, messages }], acks: -1 }),
  received,
});
