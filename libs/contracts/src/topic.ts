import type { ServiceName } from './endpoint.ts';

/** A topic, the service that alone writes to it, and how a cluster keeps it: all that is said of it stands here. */
export interface Topic {
  readonly name: string;
  readonly owner: ServiceName;
  /** Never changed once it is in use: a key would go to another partition, and its order be lost. */
  readonly partitions: number;
  /** Whole days that an event can be read. Shorter than inboxes remember, or a redelivery would take effect again. */
  readonly retentionDays: number;
  readonly cleanupPolicy: 'delete' | 'compact';
  /** Copies, of which so many must have an event before it counts as told. A smaller cluster has fewer. */
  readonly replicationFactor: number;
  readonly minInsyncReplicas: number;
}

/** What a topic is when nothing else is said of it: one broker may be lost, or be restarted, and telling goes on. */
const usual = { retentionDays: 14, cleanupPolicy: 'delete', replicationFactor: 3, minInsyncReplicas: 2 } as const;

/** Declares a topic. */
export function topic(declared: Pick<Topic, 'name' | 'owner' | 'partitions'> & Partial<Topic>): Topic {
  return { ...usual, ...declared };
}
