/** What tells that a service does not hear its events: while it is kept out, and when they are gone. */

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

/** A transport that declares the topic, and listens to what it is told to; with what it heard. */
async function start(topics: readonly string[] = [], handle: () => Promise<void> = async () => {}) {
  const { logger, text } = captureLogs();
  const heard: number[] = [];
  const transport = kafka(prefix, undefined, { logger });
  transport.declare([topic]);
  if (topics.length > 0)
    transport.subscribe({
      group,
      topics,
      async handle(messages) {
        await handle();
        for (const { envelope } of messages) heard.push((envelope.data as { n: number }).n);
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
    }, 30_000);
  return { transport, heard, text, publish };
}

describe('a consumer that cannot join its group', () => {
  withKafka('is told of: the broker counts as away, and what waits for it is known', async () => {
    // kafkajs joins with all topics or with none.
    const { transport, publish } = await start([topic.name, 'nowhere']);
    await publish(1, 2, 3);
    await eventually(async () => {
      expect(await transport.lag?.()).toMatchObject([{ group, topic: topic.name, events: 3, next: [{ offset: 0 }] }]);
    }, 30_000);
    await expect(transport.check()).rejects.toThrow();
  });
});

describe('events that were deleted before they were handled', () => {
  /** Deletes what its partition has below an offset, as retention does. */
  async function deleteBelow(offset: string) {
    const ends = await admin.fetchTopicOffsets(prefix + topic.name);
    const { partition = 0 } = ends.find(({ high }) => high !== '0') ?? {};
    await admin.deleteTopicRecords({ topic: prefix + topic.name, partitions: [{ partition, offset }] });
  }
  const missed = (events: number) => [{ group, topic: topic.name, events }];

  withKafka('are counted and named when the consumer comes back and goes on behind them', async () => {
    const before = await start([topic.name]);
    await before.publish(0, 1);
    await eventually(() => expect(before.heard).toEqual([0, 1]), 30_000);
    expect(before.transport.missed?.()).toEqual(missed(0));
    await before.transport.stopConsuming();
    await before.publish(2, 3, 4, 5, 6);
    await connectAdmin();
    await deleteBelow('5');

    const { transport, heard, text } = await start([topic.name]);
    await eventually(() => expect(heard).toEqual([5, 6]), 40_000);
    await eventually(() => expect(transport.missed?.()).toEqual(missed(3)), 20_000);
    const line = text()
      .split('\n')
      .find((one) => one.includes('Events were deleted before they were handled'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 50, group, topic: topic.name, from: 2, to: 5, events: 3 });
    expect(await transport.lag?.()).toMatchObject([{ events: 0, next: [] }]);
  });

  withKafka('are counted where nothing is left behind them, too; a group that begins misses nothing', async () => {
    const sender = await start();
    await sender.publish(0, 1);
    await connectAdmin();
    await deleteBelow('1');
    const first = await start([topic.name]);
    await eventually(() => expect(first.heard).toEqual([1]), 30_000);
    expect(first.transport.missed?.()).toEqual(missed(0));
    await first.transport.stopConsuming();
    await sender.publish(2, 3);
    await deleteBelow('4');
    const { transport, heard } = await start([topic.name]);
    await eventually(() => expect(transport.missed?.()).toEqual(missed(2)), 40_000);
    expect(heard).toEqual([]);
  });
});
