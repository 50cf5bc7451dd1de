import type { Lag, Subscription } from '@attribution/messaging';
import { attemptWithin } from '@attribution/runtime';
import type { Admin } from 'kafkajs';

/** A subscriber's consumer group. */
export const groupIdOf = (prefix: string, { group }: Pick<Subscription, 'group'>): string =>
  `${prefix}attribution.${group}`;

/** Milliseconds for one topic: one without a leader, or one that was deleted, must not keep the others back. */
const timeoutMs = 1_500;

/**
 * How many messages each group has not acknowledged yet, by topic, as the broker knows it. Topics for which
 * it does not answer are left out.
 */
export async function readLag(admin: Admin, subscriptions: readonly Subscription[], prefix: string): Promise<Lag[]> {
  const names = await findExisting(admin, [...new Set(subscriptions.flatMap(({ topics }) => topics))], prefix);
  const ends = new Map(names.map((name) => [name, endsOf(admin, prefix + name)]));
  const lags = subscriptions.flatMap((subscription) =>
    subscription.topics
      .filter((topic) => ends.has(topic))
      .map(async (topic): Promise<Lag> => {
        const groupId = groupIdOf(prefix, subscription);
        const [ofTopic, [offsets]] = await Promise.all([
          ends.get(topic),
          admin.fetchOffsets({ groupId, topics: [prefix + topic] }),
        ]);
        const partitions = (offsets?.partitions ?? []).map(({ partition, offset }) => {
          const { low, high } = ofTopic?.get(partition) ?? { low: 0, high: 0 };
          // -1: nothing acknowledged yet, so that it begins at the start. Retention may have deleted events past an offset.
          const next = Math.max(low, Number(offset));
          return { partition, offset: next, events: Math.max(0, high - next) };
        });
        return {
          group: subscription.group,
          topic,
          events: partitions.reduce((sum, { events }) => sum + events, 0),
          next: partitions.flatMap(({ partition, offset, events }) => (events > 0 ? [{ partition, offset }] : [])),
        };
      }),
  );
  const known = await Promise.all(lags.map((lag) => attemptWithin(timeoutMs, () => lag)));
  return known.filter((lag) => lag !== undefined);
}

/** kafkajs would ask for a missing topic again and again, and delays all other requests meanwhile. */
async function findExisting(admin: Admin, names: readonly string[], prefix: string): Promise<readonly string[]> {
  const existing = await admin.listTopics().catch(() => undefined);
  return existing === undefined ? names : names.filter((name) => existing.includes(prefix + name));
}

async function endsOf(admin: Admin, topic: string) {
  const offsets = await admin.fetchTopicOffsets(topic);
  return new Map(offsets.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]));
}
