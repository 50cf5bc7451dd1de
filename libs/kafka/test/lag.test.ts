import { newUuid } from '@attribution/ids';
import { type Message, newEvent } from '@attribution/messaging';
import { accountId, brokers, kafka, newPrefix, things } from '@attribution/messaging/testing';
import { eventually } from '@attribution/testing';
import { describe, expect, test } from '@jest/globals';
import { readLag } from '../src/lag.ts';

describe('how far a consumer is behind', () => {
  test('what it has not acknowledged, less what is gone; all there is, where it has not begun', async () => {
    const admin = {
      listTopics: async () => ['test.things', 'others'],
      fetchTopicOffsets: async () => [
        { partition: 0, offset: '100', low: '0', high: '100' },
        { partition: 1, offset: '50', low: '30', high: '50' },
        { partition: 2, offset: '9', low: '4', high: '9' },
      ],
      fetchOffsets: async ({ groupId, topics }: { groupId: string; topics: string[] }) =>
        topics.map((topic) => ({
          topic,
          partitions: [
            { partition: 0, offset: groupId.endsWith('campaign') ? '90' : '100', metadata: null },
            { partition: 1, offset: '10', metadata: null },
            { partition: 2, offset: '-1', metadata: null },
          ],
        })),
    };
    const subscription = (group: string) => ({
      group,
      topics: ['things'],
      handle: async () => [],
      setAside: async () => {},
    });
    const subscriptions = [subscription('campaign'), subscription('billing')];
    const behind = [
      { partition: 1, offset: 30 },
      { partition: 2, offset: 4 },
    ];
    expect(await readLag(admin as never, subscriptions, 'test.')).toEqual([
      { group: 'campaign', topic: 'things', events: 10 + 20 + 5, next: [{ partition: 0, offset: 90 }, ...behind] },
      { group: 'billing', topic: 'things', events: 0 + 20 + 5, next: behind },
    ]);
  });

  (brokers ? test : test.skip)('is what Kafka says', async () => {
    const { topic, type } = things(3);
    const transport = kafka(newPrefix());
    const held = Promise.withResolvers<void>();
    transport.declare([topic]);
    transport.subscribe({
      group: 'campaign',
      topics: [topic.name],
      handle: async () => {
        await held.promise;
        return [];
      },
      setAside: async () => {},
    });
    await transport.start();
    const message = (n: number): Message => {
      const { message } = newEvent(
        type,
        { account_id: accountId, key: `k${n}`, n },
        { accountId, occurredAt: new Date() },
      );
      return { ...message, envelope: { ...message.envelope, event_id: newUuid() } };
    };
    let published = 0;
    await eventually(async () => {
      const { failed } = await transport.publish([message(1), message(2), message(3)]);
      published += 3 - failed.length; // A new topic may take some before it takes all.
      expect(failed).toEqual([]);
    });
    const lag = async () => (await transport.lag?.())?.map(({ events }) => events);
    await eventually(async () => expect(await lag()).toEqual([published]));
    held.resolve();
    await eventually(async () => expect(await lag()).toEqual([0]));
    await transport.stopConsuming();
    await transport.close();
  });
});
