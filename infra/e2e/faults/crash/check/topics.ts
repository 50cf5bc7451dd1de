import { randomBytes } from 'node:crypto';
import { type Admin, Kafka, logLevel } from 'kafkajs';

/** A message on a topic. */
export interface Published {
  /** Without the prefix. */
  readonly topic: string;
  readonly key: string;
  readonly eventId: string;
  /** The event's data, as JSON in its envelope. */
  readonly value: Buffer | null;
}

/** Reads all messages on the topics with the prefix. Messages with the same key are in the order of their partition. */
export async function readTopics(brokers: readonly string[], prefix: string): Promise<readonly Published[]> {
  return withAdmin(brokers, async (kafka, admin) => {
    const topics = await topicsOf(admin, prefix);
    const remaining = new Map<string, bigint>();
    for (const topic of topics)
      for (const { partition, low, high } of await admin.fetchTopicOffsets(topic))
        if (BigInt(high) > BigInt(low)) remaining.set(`${topic} ${partition}`, BigInt(high) - 1n);
    const read: Published[] = [];
    if (remaining.size === 0) return read;
    const groupId = `${prefix}reader-${randomBytes(4).toString('hex')}`;
    const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics, fromBeginning: true });
      const { promise: complete, resolve, reject } = Promise.withResolvers<void>();
      const timer = setTimeout(
        () => reject(new Error(`Not read in time: ${[...remaining.keys()].join(', ')}`)),
        60_000,
      );
      await consumer.run({
        eachMessage: async ({ topic, partition, message: { key, headers, offset, value } }) => {
          read.push({
            topic: topic.slice(prefix.length),
            key: String(key),
            eventId: String(headers?.event_id),
            value,
          });
          if (BigInt(offset) >= (remaining.get(`${topic} ${partition}`) ?? -1n))
            remaining.delete(`${topic} ${partition}`);
          if (remaining.size === 0) resolve();
        },
      });
      await complete.finally(() => clearTimeout(timer));
      return read;
    } finally {
      await consumer.disconnect();
    }
  });
}

/** Deletes the topics with the prefix, because many runs may share a broker. */
export async function dropTopics(brokers: readonly string[], prefix: string): Promise<void> {
  await withAdmin(brokers, async (_, admin) => admin.deleteTopics({ topics: await topicsOf(admin, prefix) }));
}

async function topicsOf(admin: Admin, prefix: string): Promise<string[]> {
  return (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
}

async function withAdmin<T>(brokers: readonly string[], work: (kafka: Kafka, admin: Admin) => Promise<T>): Promise<T> {
  const kafka = new Kafka({ clientId: 'crash-reader', brokers: [...brokers], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(kafka, admin);
  } finally {
    await admin.disconnect();
  }
}
