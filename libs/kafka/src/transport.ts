import type { Topic } from '@attribution/contracts';
import type { Subscription, Transport } from '@attribution/messaging';
import { type KafkaOptions, newKafkaClient, newProducer } from './client.ts';
import { Cluster } from './cluster.ts';
import { GroupConsumer } from './group-consumer.ts';
import { readLag } from './lag.ts';
import { countMissed } from './missed.ts';
import { createReplaceableProducer } from './producer.ts';
import { Publisher } from './publisher.ts';
import { retry } from './retry.ts';
import { layoutOf } from './topic-layout.ts';
import { createTopics } from './topics.ts';

/** Carries events over Kafka. Starts whether or not the broker is reachable; `check` throws while it is not. */
export function createKafkaTransport(options: KafkaOptions): Transport {
  const { logger, prefix = '', sessionTimeout = 6_000, replicationFactor = 1 } = options;
  const kafka = newKafkaClient(options);
  const admin = kafka.admin();
  const producer = createReplaceableProducer(() => newProducer(kafka), logger);
  const publisher = new Publisher(producer, prefix);
  const cluster = new Cluster(admin);
  const missed = countMissed(admin, prefix, logger);
  const topics = new Map<string, Topic>();
  const subscriptions: Subscription[] = [];
  const consumers: GroupConsumer[] = [];
  const stopping = new AbortController();
  const closing = new AbortController();

  async function prepare(): Promise<void> {
    await admin.connect();
    const layouts = [...topics.values()].map((topic) => layoutOf(topic, replicationFactor, prefix));
    await createTopics(admin, layouts, logger);
    await producer.connect();
  }

  const newConsumer = (subscription: Subscription) =>
    new GroupConsumer({
      ...{ kafka, subscription, prefix, sessionTimeout, logger },
      ...{ stopping: stopping.signal, closing: closing.signal },
      countMissed: (reset) => missed.note(subscription, reset),
    });

  const untilReachable = { logger, message: 'Kafka is not reachable yet', isOver: () => closing.signal.aborted };

  return {
    declare(declared) {
      for (const topic of declared) topics.set(topic.name, topic);
    },
    subscribe(subscription) {
      subscriptions.push(subscription);
      consumers.push(newConsumer(subscription));
    },
    async start() {
      const joinAll = async () => void (await Promise.all(consumers.map((consumer) => consumer.join())));
      cluster.start(() => retry(prepare, untilReachable), joinAll);
    },
    publish: (messages) => publisher.publish(messages),
    check: () => cluster.check(),
    async lag() {
      await cluster.prepared(); // And no more: a consumer that is kept out of its group is what the lag has to show.
      return readLag(admin, subscriptions, prefix);
    },
    missed: () => missed.read(subscriptions),
    async stopConsuming() {
      stopping.abort();
      await Promise.all(consumers.map((consumer) => consumer.leave()));
    },
    async close() {
      stopping.abort();
      closing.abort();
      await cluster.settled();
      await Promise.allSettled([
        ...consumers.map((consumer) => consumer.leave()),
        producer.disconnect(),
        admin.disconnect(),
      ]);
    },
  };
}
