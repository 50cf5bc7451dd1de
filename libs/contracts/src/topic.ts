import type { ServiceName } from './endpoint.ts';

/** A topic, the only service that publishes to it, and its settings in the cluster. */
export interface Topic {
  readonly name: string;
  readonly owner: ServiceName;
  /** It must not change once the topic is in use: keys would move to other partitions, and lose their order. */
  readonly partitions: number;
  /** Whole days that events are kept. It must be shorter than the time that inbox rows are kept, or a redelivery would take effect again. */
  readonly retentionDays: number;
  readonly cleanupPolicy: 'delete' | 'compact';
  /** The number of copies, and how many of them must have an event before it counts as published. A smaller cluster has fewer. */
  readonly replicationFactor: number;
  readonly minInsyncReplicas: number;
}

/** The defaults of a topic. With these, publishing continues while one broker is lost or restarted. */
const usual = { retentionDays: 14, cleanupPolicy: 'delete', replicationFactor: 3, minInsyncReplicas: 2 } as const;

/** Declares a topic. */
export function topic(declared: Pick<Topic, 'name' | 'owner' | 'partitions'> & Partial<Topic>): Topic {
  return { ...usual, ...declared };
}
