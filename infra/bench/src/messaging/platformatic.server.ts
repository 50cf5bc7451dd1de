/**
 * Does with @platformatic/kafka, a possible replacement, what `loop.server.ts` does with kafkajs: the same topic,
 * partitions, keys, headers, bytes and batch size, one batch in flight and acknowledged by all replicas; a consumer counts.
 */
import {
  Admin,
  Consumer,
  compatibilityPartitioner,
  MessagesStreamModes,
  type MessageToProduce,
  ProduceAcks,
  Producer,
} from '@platformatic/kafka';
import { streamOf } from './events.ts';
import { newReceived, serveLoop } from './serve-loop.ts';

const { BROKERS = '', TOPIC_PREFIX = '', STREAM } = process.env;
const stream = streamOf(STREAM);
const topic = TOPIC_PREFIX + stream.topic.name;
const cluster = { clientId: 'bench', bootstrapBrokers: BROKERS.split(',') };

const admin = new Admin(cluster);
await admin.createTopics({ topics: [topic], partitions: stream.topic.partitions, replicas: 1 });
await admin.close();
const producer = new Producer({ ...cluster, autocreateTopics: false, partitioner: compatibilityPartitioner });

const received = newReceived();
const consumer = new Consumer({ ...cluster, groupId: `${topic}.bench`, maxWaitTime: 250 });
const messages = await consumer.consume({ topics: [topic], mode: MessagesStreamModes.EARLIEST });
messages.on('data', () => received.add(1));

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

serveLoop({ newMessage, send: (messages) => producer.send({ messages, acks: ProduceAcks.ALL }), received });
