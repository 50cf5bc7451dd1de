import { randomBytes } from 'node:crypto';
import { type Admin, Kafka, logLevel } from 'kafkajs';

/** A message on a topic. */
export interface Published {
  /** Without the prefix. */
  readonly topic: string;
  readonly key: string;
  readonly eventId: string;
}

/** Reads all that lies on the topics with the prefix; what has one key in the order of its partition. */
export async function readTopics(brokers: readonly string[], prefix: string): Promise<readonly Published[]> {
  return withAdmin(brokers, async (kafka, admin) => {
    const topics = await topicsOf(admin, prefix);
    const left = new Map<string, bigint>();
    for (const topic of topics)
      for (const { partition, low, high } of await admin.fetchTopicOffsets(topic))
        if (BigInt(high) > BigInt(low)) left.set(`${topic} ${partition}`, BigInt(high) - 1n);
    const read: Published[] = [];
    if (left.size === 0) return read;
    const groupId = `${prefix}reader-${randomBytes(4).toString('hex')}`;
    const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics, fromBeginning: true });
      const { promise: whole, resolve, reject } = Promise.withResolvers<void>();
      const patience = setTimeout(() => reject(new Error(`Not read in time: ${[...left.keys()].join(', ')}`)), 60_000);
      await consumer.run({
        eachMessage: async ({ topic, partition, message: { key, headers, offset } }) => {
          read.push({
            topic: topic.slice(prefix.length),
            key: String(key),
            eventId: String(headers?.event_id),
          });
          if (BigInt(offset) >= (left.get(`${topic} ${partition}`) ?? -1n)) left.delete(`${topic} ${partition}`);
          if (left.size === 0) resolve();
        },
      });
      await whole.finally(() => clearTimeout(patience));
      return read;
    } finally {
      await consumer.disconnect();
    }
  });
}

/** Takes the topics with the prefix away: a broker may be used by many runs. */
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
