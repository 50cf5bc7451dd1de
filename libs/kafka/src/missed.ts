import type { Missed, Subscription } from '@attribution/messaging';
import type { Admin } from 'kafkajs';
import type { Logger } from 'pino';
import type { Reset } from './kafkajs-reset.ts';

/** Counts the events that were deleted before this process's consumers came to them. */
export function countMissed(admin: Admin, prefix: string, logger: Logger) {
  const counted = new Map<Subscription, Map<string, number>>();

  return {
    /** Rejects while the broker cannot say where the partition begins now. */
    async note(subscription: Subscription, { topic: full, partition, from }: Reset): Promise<void> {
      const topic = full.slice(prefix.length);
      const offsets = await admin.fetchTopicOffsets(full);
      const to = Number(offsets.find((one) => one.partition === partition)?.low ?? from);
      const events = Math.max(0, to - from);
      const topics = counted.get(subscription) ?? new Map<string, number>();
      counted.set(subscription, topics.set(topic, (topics.get(topic) ?? 0) + events));
      if (events > 0)
        logger.error(
          { group: subscription.group, topic, partition, from, to, events },
          'Events were deleted before they were handled: their effects are missing',
        );
    },
    /** The number for each subscribed topic, also if it is 0. */
    read: (subscriptions: readonly Subscription[]): Missed[] =>
      subscriptions.flatMap((subscription) =>
        subscription.topics.map((topic) => ({
          group: subscription.group,
          topic,
          events: counted.get(subscription)?.get(topic) ?? 0,
        })),
      ),
  };
}
