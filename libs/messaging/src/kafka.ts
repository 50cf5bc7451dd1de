import { Envelope, type Topic } from '@attribution/contracts';
import { type Admin, type Consumer, type EachBatchPayload, Kafka, type KafkaMessage, logLevel } from 'kafkajs';
import type { Logger } from 'pino';
import { byKeyHash } from './partitioner.ts';
import { asError, byKey, type Message, type Subscription, type Transport, undone } from './transport.ts';

export interface KafkaOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Before each topic's and group's name, so that environments may share a broker. */
  readonly prefix?: string;
  readonly replicationFactor?: number;
  /** Milliseconds without a sign of life after which a group gives a consumer's partitions to others. */
  readonly sessionTimeout?: number;
  readonly logger: Logger;
}

const seconds = 1000;
/** How long a broker that could be asked a moment ago counts as reachable. */
const checkedFor = 5 * seconds;
/** Messages that a subscriber is given at once, at most. */
const sliceSize = 500;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Carries events over Kafka (ADR 0005: why kafkajs's idempotent producer is not used). */
export function createKafkaTransport(options: KafkaOptions): Transport {
  const { logger, prefix = '', sessionTimeout = 10 * seconds } = options;
  const heartbeatInterval = Math.min(3 * seconds, sessionTimeout / 3);
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
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    maxInFlightRequests: 1,
    createPartitioner: byKeyHash,
  });
  const topics = new Map<string, Topic>();
  const subscriptions: Subscription[] = [];
  const consumers = new Set<Consumer>();
  let stopped = false;
  let closing = false;
  let connected: Promise<void> | undefined;
  let checkedAt = 0;

  /** Tries again until it succeeds, as the broker may come later than we do, or go and come back. */
  async function insist(attempt: () => Promise<void>, isOver: () => boolean): Promise<void> {
    for (let wait = 250; !isOver(); wait = Math.min(wait * 2, 5 * seconds)) {
      try {
        return await attempt();
      } catch (error) {
        logger.warn({ err: error }, 'Kafka is not reachable yet');
        await pause(wait);
      }
    }
  }

  async function connect(): Promise<void> {
    const prepare = async () => {
      await admin.connect();
      await createTopics(admin, [...topics.values()], prefix, options.replicationFactor ?? 1);
      await producer.connect();
    };
    await insist(prepare, () => closing);
    await Promise.all(subscriptions.map(keepConsuming));
  }

  const keepConsuming = (subscription: Subscription) =>
    insist(
      () => consume(subscription),
      () => stopped,
    );

  /**
   * Resolves when a consumer has joined its group. One that crashes later is replaced: kafkajs restarts its own from some
   * errors, and gives up for good, in silence, on others that pass as well, as a coordinator that is not there yet.
   */
  async function consume(subscription: Subscription): Promise<void> {
    const consumer = kafka.consumer({
      groupId: `${prefix}attribution.${subscription.group}`,
      sessionTimeout,
      heartbeatInterval,
      maxWaitTimeInMs: 250,
      allowAutoTopicCreation: false,
      retry: { retries: Number.MAX_SAFE_INTEGER, maxRetryTime: 5 * seconds, restartOnFailure: async () => false },
    });
    let crash: Error | undefined;
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      crash = payload.error;
      if (consumers.delete(consumer)) void keepConsuming(subscription);
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: subscription.topics.map((topic) => prefix + topic), fromBeginning: true });
      await consumer.run({
        autoCommit: true,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 32, // The subscriber itself bounds what it does at once.
        eachBatch: (payload) => handleBatch(payload, subscription),
      });
      if (crash) throw crash;
      consumers.add(consumer);
    } catch (error) {
      await consumer.disconnect(); // Another takes its place: its connection would stay until the broker ends it.
      throw error;
    }
    if (stopped) await consumer.disconnect();
  }

  /** The offset moves with each slice that is done, so that a consumer that stops leaves little to be done again. */
  async function handleBatch(payload: EachBatchPayload, subscription: Subscription): Promise<void> {
    const { batch, heartbeat, isRunning, isStale, resolveOffset } = payload;
    const goesOn = () => isRunning() && !isStale() && !closing;
    const topic = batch.topic.slice(prefix.length);
    const beat = setInterval(() => void heartbeat().catch(() => {}), heartbeatInterval);
    try {
      for (let start = 0; start < batch.messages.length && goesOn(); start += sliceSize) {
        const slice = batch.messages.slice(start, start + sliceSize);
        const messages = slice.flatMap((message) => readMessage(topic, message, logger));
        if (!(await handleUntilDone(subscription, messages, goesOn))) return;
        resolveOffset(slice.at(-1)?.offset ?? '');
        await heartbeat(); // Throws when the group is being divided anew: the rest is somebody's after that.
      }
    } finally {
      clearInterval(beat);
    }
  }

  /** False when it had to stop with something undone. */
  async function handleUntilDone(
    subscription: Subscription,
    messages: readonly Message[],
    goesOn: () => boolean,
  ): Promise<boolean> {
    let left = messages;
    for (let wait = 250; goesOn(); wait = Math.min(wait * 2, 5 * seconds)) {
      const failures = await subscription.handle(left);
      const [first] = failures;
      if (!first) return true;
      logger.warn(
        { err: first.error, event_id: first.message.envelope.event_id, keys: failures.length },
        'Events wait: their effects are not possible now; this is the first of them',
      );
      left = undone(left, failures);
      await pause(wait);
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
        const cause = asError(error);
        return { acknowledged: [], failed: byKey(messages).map(([message = first]) => ({ message, error: cause })) };
      }
    },
    async check() {
      if (Date.now() - checkedAt < checkedFor) return;
      if (!connected) throw new Error('Kafka is not asked before start()');
      const late = pause(2 * seconds).then(() => Promise.reject(new Error('Kafka does not answer')));
      // In turn: a question to kafkajs's admin while it connects makes that fail.
      await Promise.race([connected.then(() => admin.describeCluster()), late]);
      checkedAt = Date.now();
    },
    async stopConsuming() {
      stopped = true;
      await Promise.all([...consumers].map((consumer) => consumer.disconnect()));
    },
    async close() {
      stopped = true;
      closing = true;
      await Promise.race([connected, pause(2 * seconds)]);
      const parts = [...consumers, producer, admin];
      await Promise.allSettled(parts.map((part) => part.disconnect()));
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
