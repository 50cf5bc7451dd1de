import { events, topic } from '@attribution/contracts';
import { deadLetterTopic } from '@attribution/messaging';
import { brokers, endAfterEach, kafka, newPrefix, plainKafka, things, withKafka } from '@attribution/messaging/testing';
import { captureLogs, eventually } from '@attribution/testing';
import { describe, expect, test } from '@jest/globals';
import kafkajs, { type Admin } from 'kafkajs';
import { differencesOf, layoutOf } from '../src/topic-layout.ts';
import { acksOf, api, startWire } from './support-wire.ts';

const day = 24 * 60 * 60 * 1000;
const ending = endAfterEach();

async function openAdmin(): Promise<Admin> {
  const admin = plainKafka().admin();
  await admin.connect();
  ending.push(() => admin.disconnect());
  return admin;
}

/** What the broker says of a topic. */
async function described(admin: Admin, name: string) {
  const { topics } = await admin.fetchTopicMetadata({ topics: [name] });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name }],
  });
  const entries = resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]);
  return { partitions: topics[0]?.partitions ?? [], config: Object.fromEntries(entries ?? []) };
}

describe('of a declared topic', () => {
  const declared = topic({ name: 'things', owner: 'campaign', partitions: 3 });

  test.each([
    [5, 3, '2'],
    [3, 3, '2'],
    [2, 2, '1'],
    [1, 1, '1'],
  ])('a cluster of %i brokers holds %i copies, and telling waits for %s of them', (brokers, replicas, waitedFor) => {
    const layout = layoutOf(declared, brokers, 'stage.');
    expect(layout).toMatchObject({ name: 'stage.things', replicas, settings: { 'min.insync.replicas': waitedFor } });
  });

  test('every point that differs is named, and no other', () => {
    const layout = layoutOf(declared, 3);
    expect(differencesOf(layout, layout)).toEqual([]);
    const { 'cleanup.policy': _, ...settings } = layout.settings;
    expect(
      differencesOf(layout, { ...layout, partitions: 2, settings: { ...settings, 'retention.ms': '1', other: 'x' } }),
    ).toEqual([
      { of: 'partitions', declared: '3', found: '2' },
      { of: 'cleanup.policy', declared: 'delete', found: 'nothing' },
      { of: 'retention.ms', declared: String(14 * day), found: '1' },
    ]);
  });
});

withKafka('every topic is kept by the broker as it is declared', async () => {
  const prefix = newPrefix();
  const all = [...new Set(events.map((event) => event.topic)), deadLetterTopic('campaign')];
  const { logger, text } = captureLogs();
  const transport = kafka(prefix, undefined, { logger });
  transport.declare(all);
  await transport.start();
  ending.push(() => transport.close());
  await eventually(() => transport.check());

  const admin = await openAdmin();
  expect(all.length).toBeGreaterThan(4);
  for (const one of all) {
    const { partitions, config } = await described(admin, prefix + one.name);
    expect(partitions).toHaveLength(one.partitions);
    for (const { replicas } of partitions) expect(replicas).toHaveLength(1); // Of one broker.
    expect(config).toMatchObject({
      'cleanup.policy': one.cleanupPolicy,
      'retention.ms': String(one.retentionDays * day),
      'segment.ms': String(day),
      'min.insync.replicas': '1',
    });
  }
  expect(text()).not.toMatch(/nothing was changed|could not be seen/);
});

withKafka(
  'a topic whose settings in the cluster differ is logged as an error, is not changed, and carries events',
  async () => {
    const prefix = newPrefix();
    const { topic: declared, number } = things(3);
    const name = prefix + declared.name;
    const admin = await openAdmin();
    const configEntries = [{ name: 'retention.ms', value: '3600000' }];
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic: name, numPartitions: 2, configEntries }] });

    const { logger, text } = captureLogs();
    const transport = kafka(prefix, undefined, { logger });
    transport.declare([declared]);
    await transport.start();
    ending.push(() => transport.close());
    await eventually(() => transport.check());

    const errors = text()
      .split('\n')
      .filter((line) => line.includes('nothing was changed'))
      .map((line): unknown => JSON.parse(line));
    const differences: unknown = expect.arrayContaining([
      { of: 'partitions', declared: '3', found: '2' },
      { of: 'retention.ms', declared: String(14 * day), found: '3600000' },
    ]);
    expect(errors).toMatchObject([{ level: 50, topic: name, differences }]);
    const { partitions, config } = await described(admin, name);
    expect([partitions.length, config['retention.ms']]).toEqual([2, '3600000']);
    const { message } = number('a', 1);
    expect(await transport.publish([message])).toEqual({ acknowledged: [message.envelope.event_id], failed: [] });
  },
);

withKafka(
  'an event counts as published when all in-sync replicas have it: every batch on the wire asks for that',
  async () => {
    const wire = await startWire(brokers?.[0] ?? '');
    ending.push(() => wire.stop());
    const { topic: declared, number } = things(1);
    const transport = kafka(newPrefix(), [wire.broker]);
    transport.declare([declared]);
    await transport.start();
    ending.push(() => transport.close());
    await eventually(() => transport.check());
    const asked: number[] = [];
    wire.disturb(({ api: kind, isAnswer, bytes }) => {
      if (kind === api.produce && !isAnswer) asked.push(acksOf(bytes));
      return 'pass';
    });
    for (const n of [1, 2]) expect(await transport.publish([number('a', n).message])).toMatchObject({ failed: [] });
    expect(asked).toEqual([-1, -1]);
  },
);
