/** How it shows that a service does not receive its events: while it cannot join its group, and after they were deleted. */

import { endAfterEach, kafka, newPrefix, plainKafka, things, withKafka } from '@attribution/messaging/testing';
import { captureLogs, eventually } from '@attribution/testing';
import { beforeEach, describe, expect } from '@jest/globals';
import type { Admin } from 'kafkajs';

const { topic, number } = things(2);
const group = 'campaign';

const ending = endAfterEach();
let admin: Admin;
let prefix: string;
beforeEach(async () => {
  prefix = newPrefix();
  admin = plainKafka().admin();
});

async function connectAdmin() {
  await admin.connect();
  ending.push(() => admin.disconnect());
}

/** A transport that declares the topic and subscribes to `topics`, and the numbers that it received. */
async function start(topics: readonly string[] = [], handle: () => Promise<void> = async () => {}) {
  const { logger, text } = captureLogs();
  const received: number[] = [];
  const transport = kafka(prefix, undefined, { logger });
  transport.declare([topic]);
  if (topics.length > 0)
    transport.subscribe({
      group,
      topics,
      async handle(messages) {
        await handle();
        for (const { envelope } of messages) received.push((envelope.data as { n: number }).n);
        return [];
      },
      setAside: async () => {},
    });
  await transport.start();
  ending.push(() => transport.close());
  const publish = (...numbers: number[]) =>
    eventually(async () => {
      const { failed } = await transport.publish(numbers.map((n) => number('a', n).message));
      expect(failed).toEqual([]);
    });
  return { transport, received, text, publish };
}

describe('a consumer that cannot join its group', () => {
  withKafka('fails the check of the broker, and its lag is known', async () => {
    // kafkajs joins with all topics or not at all.
    const { transport, publish } = await start([topic.name, 'nowhere']);
    await publish(1, 2, 3);
    await eventually(async () => {
      expect(await transport.lag?.()).toMatchObject([{ group, topic: topic.name, events: 3, next: [{ offset: 0 }] }]);
    });
    await expect(transport.check()).rejects.toThrow();
  });
});

describe('events that were deleted before they were handled', () => {
  /** Deletes the events below an offset, as retention does. */
  async function deleteBelow(offset: string) {
    const ends = await admin.fetchTopicOffsets(prefix + topic.name);
    const { partition = 0 } = ends.find(({ high }) => high !== '0') ?? {};
    await admin.deleteTopicRecords({ topic: prefix + topic.name, partitions: [{ partition, offset }] });
  }
  const missed = (events: number) => [{ group, topic: topic.name, events }];

  withKafka('are counted and logged when the consumer returns and continues after them', async () => {
    const before = await start([topic.name]);
    await before.publish(0, 1);
    await eventually(() => expect(before.received).toEqual([0, 1]));
    expect(before.transport.missed?.()).toEqual(missed(0));
    await before.transport.stopConsuming();
    await before.publish(2, 3, 4, 5, 6);
    await connectAdmin();
    await deleteBelow('5');

    const { transport, received, text } = await start([topic.name]);
    await eventually(() => expect(received).toEqual([5, 6]));
    await eventually(() => expect(transport.missed?.()).toEqual(missed(3)));
    const line = text()
      .split('\n')
      .find((one) => one.includes('Events were deleted before they were handled'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 50, group, topic: topic.name, from: 2, to: 5, events: 3 });
    expect(await transport.lag?.()).toMatchObject([{ events: 0, next: [] }]);
  });

  withKafka('are counted also if no event follows them; a new group misses nothing', async () => {
    const sender = await start();
    await sender.publish(0, 1);
    await connectAdmin();
    await deleteBelow('1');
    const first = await start([topic.name]);
    await eventually(() => expect(first.received).toEqual([1]));
    expect(first.transport.missed?.()).toEqual(missed(0));
    await first.transport.stopConsuming();
    await sender.publish(2, 3);
    await deleteBelow('4');
    const { transport, received } = await start([topic.name]);
    await eventually(() => expect(transport.missed?.()).toEqual(missed(2)));
    expect(received).toEqual([]);
  });
});
