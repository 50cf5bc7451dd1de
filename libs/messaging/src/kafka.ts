import { Envelope, type Topic } from '@attribution/contracts';
import { type Admin, type Consumer, type EachBatchPayload, Kafka, type KafkaMessage, logLevel } from 'kafkajs';
import type { Logger } from 'pino';
import { byKey, inParallel, type Message, type Subscription, type Transport } from './transport.ts';

export interface KafkaOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Before each topic's and group's name, so that environments may share a broker. */
  readonly prefix?: string;
  readonly replicationFactor?: number;
  readonly logger: Logger;
}

const seconds = 1000;
/** How long a broker that could be asked a moment ago counts as reachable. */
const checkedFor = 5 * seconds;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Carries events over Kafka (ADR 0005: why kafkajs's idempotent producer is not used). */
export function createKafkaTransport(options: KafkaOptions): Transport {
  const { logger, prefix = '' } = options;
  const kafka = new Kafka({
    clientId: options.clientId,
    brokers: [...options.brokers],
    connectionTimeout: 3 * seconds,
    requestTimeout: 10 * seconds,
    retry: { initialRetryTime: 100, maxRetryTime: 2 * seconds, retries: 3 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => logger.warn({ kafka: entry.log.message, error: entry.log.error }, 'kafka'),
  });
  const admin = kafka.admin();
  // One batch at a time and acks from all replicas: a retried batch may come twice, never out of order.
  const producer = kafka.producer({ allowAutoTopicCreation: false, maxInFlightRequests: 1 });
  const topics = new Map<string, Topic>();
  const subscriptions: Subscription[] = [];
  const consumers: Consumer[] = [];
  let closing = false;
  let connected: Promise<void> | undefined;
  let checkedAt = 0;

  /** Connects and creates the topics; tried again until it succeeds, as the broker may come later than we do. */
  async function connect(): Promise<void> {
    for (let wait = 250; !closing; wait = Math.min(wait * 2, 5 * seconds)) {
      try {
        await admin.connect();
        await createTopics(admin, [...topics.values()], prefix, options.replicationFactor ?? 1);
        await producer.connect();
        for (const subscription of subscriptions.slice(consumers.length)) consumers.push(await consume(subscription));
        if (closing) await Promise.all(consumers.map((consumer) => consumer.disconnect()));
        return;
      } catch (error) {
        logger.warn({ err: error }, 'Kafka is not reachable yet');
        await pause(wait);
      }
    }
  }

  async function consume(subscription: Subscription): Promise<Consumer> {
    const consumer = kafka.consumer({
      groupId: `${prefix}attribution.${subscription.group}`,
      sessionTimeout: 30 * seconds,
      heartbeatInterval: 3 * seconds,
      maxWaitTimeInMs: 250,
      allowAutoTopicCreation: false,
      retry: { retries: Number.MAX_SAFE_INTEGER, maxRetryTime: 5 * seconds, restartOnFailure: async () => !closing },
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: subscription.topics.map((topic) => prefix + topic), fromBeginning: true });
      await consumer.run({
        autoCommit: true,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 4,
        eachBatch: (payload) => handleBatch(payload, subscription),
      });
      return consumer;
    } catch (error) {
      await consumer.disconnect(); // Another takes its place: its connection would stay until the broker ends it.
      throw error;
    }
  }

  /** Keys side by side, each in order; the offset moves when the whole batch is done. */
  async function handleBatch(payload: EachBatchPayload, subscription: Subscription): Promise<void> {
    const { batch, heartbeat, isRunning, isStale, resolveOffset, commitOffsetsIfNecessary } = payload;
    const goesOn = () => isRunning() && !isStale() && !closing;
    const topic = batch.topic.slice(prefix.length);
    const messages = batch.messages.flatMap((message) => readMessage(topic, message, logger));
    const beat = setInterval(() => void heartbeat().catch(() => {}), 3 * seconds);
    try {
      await inParallel(byKey(messages), 4, async (lane) => {
        for (const message of lane) if (!(await handleUntilDone(subscription, message, goesOn))) return;
      });
    } finally {
      clearInterval(beat);
    }
    if (!goesOn()) return; // Not all may be done: the batch comes again.
    resolveOffset(batch.lastOffset());
    await commitOffsetsIfNecessary();
    await heartbeat();
  }

  async function handleUntilDone(
    subscription: Subscription,
    message: Message,
    goesOn: () => boolean,
  ): Promise<boolean> {
    for (let wait = 250; goesOn(); wait = Math.min(wait * 2, 5 * seconds)) {
      try {
        await subscription.handle(message);
        return true;
      } catch (error) {
        logger.warn(
          { err: error, event_id: message.envelope.event_id },
          'An event waits: its effect is not possible now',
        );
        await pause(wait);
      }
    }
    return false;
  }

  return {
    declare(declared) {
      for (const topic of declared) topics.set(topic.name, topic);
    },
    subscribe(subscription) {
      subscriptions.push(subscription);
    },
    async start() {
      connected = connect();
    },
    async publish(messages) {
      const [first] = messages;
      if (!first) return { acknowledged: [], failed: [] };
      try {
        const topicMessages = [...Map.groupBy(messages, (message) => message.topic)].map(([topic, group]) => ({
          topic: prefix + topic,
          messages: group.map(({ envelope }) => ({
            key: envelope.key,
            value: JSON.stringify(envelope),
            headers: {
              event_id: envelope.event_id,
              type: envelope.type,
              ...(envelope.traceparent && { traceparent: envelope.traceparent }),
            },
          })),
        }));
        await producer.sendBatch({ topicMessages, acks: -1, timeout: 10 * seconds });
        return { acknowledged: messages.map((message) => message.envelope.event_id), failed: [] };
      } catch (error) {
        // Which partitions took theirs is not known: all come again.
        const cause = error instanceof Error ? error : new Error(String(error));
        return { acknowledged: [], failed: byKey(messages).map(([message = first]) => ({ message, error: cause })) };
      }
    },
    async check() {
      if (Date.now() - checkedAt < checkedFor) return;
      const late = pause(2 * seconds).then(() => Promise.reject(new Error('Kafka does not answer')));
      await Promise.race([Promise.all([admin.describeCluster(), connected]), late]);
      checkedAt = Date.now();
    },
    async stopConsuming() {
      await Promise.all(consumers.map((consumer) => consumer.disconnect()));
    },
    async close() {
      closing = true;
      await Promise.race([connected, pause(2 * seconds)]);
      await Promise.allSettled([...consumers.map((c) => c.disconnect()), producer.disconnect(), admin.disconnect()]);
    },
  };
}

async function createTopics(admin: Admin, topics: readonly Topic[], prefix: string, replicationFactor: number) {
  await admin.createTopics({
    waitForLeaders: true,
    topics: topics.map(({ name, partitions }) => ({
      topic: prefix + name,
      numPartitions: partitions,
      replicationFactor,
    })),
  });
}

/** What is no event of ours cannot be handled by anybody: said loudly, and passed over. */
function readMessage(topic: string, message: KafkaMessage, logger: Logger): Message[] {
  try {
    return [{ topic, envelope: Envelope.parse(JSON.parse(String(message.value))) }];
  } catch (error) {
    logger.error({ err: error, topic, offset: message.offset }, 'A Kafka message is no event envelope: passed over');
    return [];
  }
}
