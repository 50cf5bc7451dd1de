import type { Topic } from '@attribution/contracts';

/** How a cluster keeps a topic; `settings` by Kafka's own names. */
export interface TopicLayout {
  readonly name: string;
  readonly partitions: number;
  readonly replicas: number;
  readonly settings: Readonly<Record<string, string>>;
}

/** A point in which a cluster's topic is not what is declared. */
export interface Difference {
  readonly of: string;
  readonly declared: string;
  readonly found: string;
}

const day = 24 * 60 * 60 * 1000;

/** What is asked of a cluster that can hold `most` copies of a topic; with fewer than are declared, fewer are waited for. */
export function layoutOf(topic: Topic, most: number, prefix = ''): TopicLayout {
  const replicas = Math.min(topic.replicationFactor, most);
  return {
    name: prefix + topic.name,
    partitions: topic.partitions,
    replicas,
    settings: {
      'cleanup.policy': topic.cleanupPolicy,
      'retention.ms': String(topic.retentionDays * day),
      // What is being written is never deleted: without this, a quiet topic would keep its events a week longer.
      'segment.ms': String(day),
      'min.insync.replicas': String(Math.min(topic.minInsyncReplicas, Math.max(1, replicas - 1))),
      // Whatever a foreign producer sends, the broker unpacks: kafkajs reads no lz4, snappy or zstd, and would give up.
      'compression.type': 'uncompressed',
    },
  };
}

/** Where a topic that was found differs from what is declared of it; empty where it does not. */
export function differencesOf(declared: TopicLayout, found: TopicLayout): Difference[] {
  const points = (layout: TopicLayout): Record<string, string> => ({
    partitions: String(layout.partitions),
    replicas: String(layout.replicas),
    ...layout.settings,
  });
  const there = points(found);
  return Object.entries(points(declared))
    .map(([of, value]) => ({ of, declared: value, found: there[of] ?? 'nothing' }))
    .filter((point) => point.declared !== point.found);
}
