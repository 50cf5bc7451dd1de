import kafkajs, { type Admin } from 'kafkajs';
import type { Logger } from 'pino';
import { typeOf } from './broker-errors.ts';
import { differencesOf, type TopicLayout } from './topic-layout.ts';

/** Creates topics that are missing. One that exists is never changed: where it differs, that is logged as an error. */
export async function createTopics(admin: Admin, layouts: readonly TopicLayout[], logger: Logger): Promise<void> {
  if (layouts.length === 0) return;
  await admin.createTopics({
    waitForLeaders: false, // kafkajs's own wait gives up where a broker does not know the topic yet.
    topics: layouts.map(({ name, partitions, replicas, settings }) => ({
      topic: name,
      numPartitions: partitions,
      replicationFactor: replicas,
      configEntries: Object.entries(settings).map(([setting, value]) => ({ name: setting, value })),
    })),
  });
  await untilTopicsKnown(
    admin,
    layouts.map(({ name }) => name),
  );
  try {
    const found = await readLayouts(admin, layouts);
    for (const layout of layouts) {
      const there = found.get(layout.name);
      const differences = there ? differencesOf(layout, there) : [];
      if (differences.length > 0)
        logger.error({ topic: layout.name, differences }, 'A topic is not as it is declared; nothing was changed');
    }
  } catch (error) {
    // Events flow all the same; a cluster may not let everybody look.
    logger.warn({ err: error }, 'Whether the topics are as they are declared could not be seen');
  }
}

/** The controller has created them; the brokers, which answer from now on, learn of it a moment later. */
export async function untilTopicsKnown(admin: Admin, topics: string[]): Promise<void> {
  for (let left = 50; ; left--) {
    try {
      await admin.fetchTopicMetadata({ topics });
      return;
    } catch (error) {
      if (left === 0 || typeOf(error) !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** The topics as the cluster has them, in the points that the layouts name. */
async function readLayouts(admin: Admin, layouts: readonly TopicLayout[]): Promise<ReadonlyMap<string, TopicLayout>> {
  const names = layouts.map(({ name }) => name);
  const resources = layouts.map(({ name, settings }) => ({
    type: kafkajs.ConfigResourceTypes.TOPIC,
    name,
    configNames: Object.keys(settings),
  }));
  const [metadata, configs] = await Promise.all([
    admin.fetchTopicMetadata({ topics: names }),
    admin.describeConfigs({ resources, includeSynonyms: false }),
  ]);
  const settingsOf = new Map(
    configs.resources.map(({ resourceName, configEntries }) => [
      resourceName,
      Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  );
  return new Map(
    metadata.topics.map(({ name, partitions }) => [
      name,
      {
        name,
        partitions: partitions.length,
        replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        settings: settingsOf.get(name) ?? {},
      },
    ]),
  );
}
