import type { Topic } from '@attribution/contracts';
import { type Consumer, type EachBatchPayload, Kafka, logLevel, type SASLOptions } from 'kafkajs';
import type { Logger } from 'pino';
import './kafkajs-clock.ts';
import './kafkajs-idle.ts';
import {
  asError,
  byKey,
  laneOf,
  type Message,
  type PublishResult,
  readEnvelope,
  type Subscription,
  type Transport,
  type Unreadable,
  undone,
  unreadable,
} from '@attribution/messaging';
import { isRefusal } from './broker-errors.ts';
import { keepPlace, type Place } from './kafkajs-place.ts';
import { onReset } from './kafkajs-reset.ts';
import { groupIdOf, readLag } from './lag.ts';
import { countMissed } from './missed.ts';
import { byKeyHash } from './partitioner.ts';
import { createReplaceableProducer } from './producer.ts';
import { layoutOf } from './topic-layout.ts';
import { createTopics } from './topics.ts';

/** How a cluster knows us: SASL's mechanisms, of which `plain` is for TLS alone. */
export interface KafkaLogin {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

export interface KafkaOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Whether the brokers are asked over TLS; Node's own list of authorities judges them (`NODE_EXTRA_CA_CERTS` adds one). */
  readonly tls?: boolean;
  /** Default: nobody in particular. */
  readonly login?: KafkaLogin | undefined;
  /** Before each topic's and group's name, so that environments may share a broker. */
  readonly prefix?: string;
  /** Copies of a topic that the cluster can hold, at most: its brokers. */
  readonly replicationFactor?: number;
  /** Milliseconds without a sign of life after which a group gives a consumer's partitions to others. */
  readonly sessionTimeout?: number;
  readonly logger: Logger;
}

const seconds = 1000;
/** How long a broker that could be asked a moment ago counts as reachable. */
const checkedFor = 5 * seconds;
/** Between two attempts to reach a broker: it may be back right after one, and everything waits for the next. */
const longestWait = 2 * seconds;
/** Messages that a subscriber is given at once, at most. */
const sliceSize = 500;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Carries events over Kafka (ADR 0005: why kafkajs's idempotent producer is not used). */
export function createKafkaTransport(options: KafkaOptions): Transport {
  const { logger, prefix = '', sessionTimeout = 6 * seconds } = options;
  // By its next heartbeat a consumer learns that partitions are to be divided anew; all of them wait for the last to learn.
  const heartbeatInterval = Math.min(1 * seconds, sessionTimeout / 3);
  const kafka = new Kafka({
    clientId: options.clientId,
    brokers: [...options.brokers],
    ssl: options.tls ?? false,
    ...(options.login && { sasl: options.login as SASLOptions }), // Their union cannot be told from one value of it.
    connectionTimeout: 3 * seconds,
    requestTimeout: 10 * seconds,
    retry: { initialRetryTime: 100, maxRetryTime: 2 * seconds, retries: 3 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => logger.warn({ kafka: entry.log.message, error: entry.log.error }, 'kafka'),
  });
  const admin = kafka.admin();
  // One batch at a time and acks from all replicas: a retried batch may come twice, never out of order.
  const newProducer = () =>
    kafka.producer({ allowAutoTopicCreation: false, maxInFlightRequests: 1, createPartitioner: byKeyHash });
  const producer = createReplaceableProducer(newProducer, logger);
  const topics = new Map<string, Topic>();
  const subscriptions: Subscription[] = [];
  const consumers = new Set<Consumer>();
  const missed = countMissed(admin, prefix, logger);
  let stopped = false;
  let closing = false;
  /** The broker answers, and topics and producer are there. */
  let prepared: Promise<void> | undefined;
  /** … and every consumer has joined its group. */
  let connected: Promise<void> | undefined;
  let checkedAt = 0;

  /** Tries again until it succeeds, as the broker may come later than we do, or go and come back. */
  async function insist(
    attempt: () => Promise<void>,
    isOver: () => boolean,
    saying = 'Kafka is not reachable yet',
  ): Promise<void> {
    for (let wait = 250; !isOver(); wait = Math.min(wait * 2, longestWait)) {
      try {
        return await attempt();
      } catch (error) {
        logger.warn({ err: error }, saying);
        await pause(wait);
      }
    }
  }

  async function prepare(): Promise<void> {
    await admin.connect();
    const layouts = [...topics.values()].map((topic) => layoutOf(topic, options.replicationFactor ?? 1, prefix));
    await createTopics(admin, layouts, logger);
    await producer.connect();
  }

  const keepConsuming = (subscription: Subscription, place: Place) =>
    insist(
      () => consume(subscription, place),
      () => stopped,
    );

  /**
   * Resolves when a consumer has joined its group. One that crashes later is replaced: kafkajs restarts its own from some
   * errors, and gives up for good, in silence, on others that pass as well, as a coordinator that is not there yet.
   */
  async function consume(subscription: Subscription, place: Place): Promise<void> {
    const consumer = kafka.consumer({
      groupId: groupIdOf(prefix, subscription),
      sessionTimeout,
      heartbeatInterval,
      maxWaitTimeInMs: 250,
      allowAutoTopicCreation: false,
      retry: { retries: Number.MAX_SAFE_INTEGER, maxRetryTime: longestWait, restartOnFailure: async () => false },
    });
    let crash: Error | undefined;
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      crash = payload.error;
      if (consumers.delete(consumer)) void keepConsuming(subscription, place);
    });
    keepPlace(consumer, place);
    onReset(consumer, (reset) => {
      const note = () => missed.note(subscription, reset);
      void insist(note, () => closing, 'How many events were deleted before they were handled is not known yet');
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
    // kafkajs leaves out what comes sooner than its interval after the last one: at that pace it would be every other one.
    const beat = setInterval(() => void heartbeat().catch(() => {}), heartbeatInterval / 3);
    try {
      for (let start = 0; start < batch.messages.length && goesOn(); start += sliceSize) {
        const slice = batch.messages.slice(start, start + sliceSize);
        const strange: Unreadable[] = [];
        const messages = slice.flatMap(({ offset, value }): Message[] => {
          try {
            return [{ topic, envelope: readEnvelope(value) }];
          } catch (error) {
            strange.push(unreadable({ topic, partition: batch.partition, offset, value }, error));
            return [];
          }
        });
        if (!(await setAsideUntilDone(subscription, strange, goesOn))) return;
        if (!(await handleUntilDone(subscription, messages, goesOn))) return;
        resolveOffset(slice.at(-1)?.offset ?? '');
        await heartbeat(); // Throws when the group is being divided anew: the rest is somebody's after that.
      }
    } finally {
      clearInterval(beat);
    }
  }

  /** False when it had to stop with something undone. */
  async function setAsideUntilDone(
    subscription: Subscription,
    strange: readonly Unreadable[],
    goesOn: () => boolean,
  ): Promise<boolean> {
    let left = strange.length;
    const setAside = async () => {
      for (; left > 0; left--) await subscription.setAside(strange[strange.length - left] as Unreadable);
    };
    await insist(setAside, () => !goesOn(), 'What is no event waits: it cannot be put among the dead letters now');
    return left === 0;
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

  async function publish(messages: readonly Message[]): Promise<PublishResult> {
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
      await producer.send({ topicMessages, acks: -1, timeout: 10 * seconds });
      return { acknowledged: messages.map((message) => message.envelope.event_id), failed: [] };
    } catch (error) {
      if (messages.length > 1 && isRefusal(error)) return publishInHalves(messages);
      // Which partitions took theirs is not known: all come again.
      const cause = asError(error);
      return { acknowledged: [], failed: byKey(messages).map(([message = first]) => ({ message, error: cause })) };
    }
  }

  /** One event that the broker refuses, or too many at once, must not keep back what is published with it. */
  async function publishInHalves(messages: readonly Message[]): Promise<PublishResult> {
    const middle = Math.ceil(messages.length / 2);
    const one = await publish(messages.slice(0, middle));
    const laneOfMessage = ({ topic, envelope }: Message) => laneOf(topic, envelope.key);
    const waiting = new Set(one.failed.map(({ message }) => laneOfMessage(message)));
    const other = await publish(messages.slice(middle).filter((message) => !waiting.has(laneOfMessage(message))));
    return {
      acknowledged: [...one.acknowledged, ...other.acknowledged],
      failed: [...one.failed, ...other.failed],
    };
  }

  return {
    declare(declared) {
      for (const topic of declared) topics.set(topic.name, topic);
    },
    subscribe(subscription) {
      subscriptions.push(subscription);
    },
    async start() {
      prepared = insist(prepare, () => closing);
      connected = prepared.then(
        async () => void (await Promise.all(subscriptions.map((one) => keepConsuming(one, {})))),
      );
    },
    publish,
    async check() {
      if (Date.now() - checkedAt < checkedFor) return;
      if (!connected) throw new Error('Kafka is not asked before start()');
      const late = pause(2 * seconds).then(() => Promise.reject(new Error('Kafka does not answer')));
      // In turn: a question to kafkajs's admin while it connects makes that fail.
      await Promise.race([connected.then(() => admin.describeCluster()), late]);
      checkedAt = Date.now();
    },
    async lag() {
      await prepared; // Not for the consumers: one that is kept out of its group is what somebody has to hear of.
      return readLag(admin, subscriptions, prefix);
    },
    missed: () => missed.read(subscriptions),
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
