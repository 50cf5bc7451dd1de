import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { newUuid } from '@attribution/ids';
import { deadLetterTopic } from '@attribution/messaging';
import {
  counting,
  createNode,
  effectsOf,
  endAfterEach,
  kafka,
  newPrefix,
  openTestDatabase,
  outboxRows,
  plainKafka,
  recording,
  things,
  withKafka,
} from '@attribution/messaging/testing';
import { captureLogs, eventually } from '@attribution/testing';
import { expect } from '@jest/globals';
import kafkajs, { CompressionTypes, type Message as KafkaMessage } from 'kafkajs';

const ending = endAfterEach();

/** A service that handles events of a topic with one partition, and a foreign producer that can send anything to it. */
async function open() {
  const { topic, type, number } = things(1);
  const database = await openTestDatabase();
  ending.push(() => database.drop());
  const prefix = newPrefix();
  const logs = captureLogs();

  async function listen() {
    const { transport, total } = counting(kafka(prefix, undefined, { logger: logs.logger }));
    transport.declare([topic, deadLetterTopic('campaign')]);
    const node = createNode({ database, transport, handlers: [recording(type, 'campaign')] });
    await transport.start();
    ending.push(() => transport.close());
    await eventually(() => transport.check());
    return { ...node, transport, total };
  }

  const producer = plainKafka().producer();
  const put = (messages: readonly KafkaMessage[], compression = CompressionTypes.None) =>
    producer.send({ topic: prefix + topic.name, messages: [...messages], compression });
  const good = (n: number) => number('a', n).message.envelope;
  const letters = async () => (await database.pool.query('SELECT * FROM dead_letters ORDER BY id')).rows;
  const listener = await listen();
  await producer.connect();
  ending.push(() => producer.disconnect());
  return { database, listen, listener, put, good, letters, logs, group: `${prefix}attribution.campaign`, prefix };
}

const messageOf = (envelope: object): KafkaMessage => ({ key: 'a', value: JSON.stringify(envelope) });

withKafka(
  'whatever lies on a topic, the partition goes on: what cannot be handled is a dead letter with its reason, once',
  async () => {
    const { database, listen, listener, put, good, letters, logs, group, prefix } = await open();
    const logged = logs.text().length;
    const deep = JSON.parse(`${'['.repeat(4_000)}${']'.repeat(4_000)}`);
    const poisons: [KafkaMessage, RegExp][] = [
      [{ key: 'a', value: 'not JSON' }, /not valid JSON/],
      [{ key: 'a', value: Buffer.from([0, 255, 254, 0]) }, /not valid JSON/],
      [{ key: 'a', value: null }, /no value/],
      [messageOf([]), /no event/],
      [messageOf({ ...good(0), event_id: 'x' }), /no event.*event_id/s],
      [messageOf({ ...good(0), type: 'thing.unheard_of' }), /Nobody here knows thing.unheard_of in version 1/],
      [messageOf({ ...good(0), version: 2 }), /Nobody here knows thing.counted in version 2/],
      [messageOf({ ...good(0), data: { ...good(0).data, n: 'one' } }), /expected number/i],
      [messageOf({ ...good(0), data: { n: 'one', more: '\0 and \ud800' } }), /expected number/i],
      [messageOf({ ...good(0), type: 'thing.\0', traceparent: '\0' }), /Nobody here knows/],
      [messageOf({ ...good(0), data: { n: 'one', deep } }), /expected number/i],
    ];
    await put([messageOf(good(1)), ...poisons.map(([message]) => message), messageOf(good(2))]);
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([1, 2]));

    const buried = await letters();
    expect(buried).toHaveLength(poisons.length);
    for (const [, reason] of poisons)
      expect(buried.map(({ error }) => error)).toContainEqual(expect.stringMatching(reason));
    for (const { attempts, consumer, topic } of buried)
      expect([attempts, consumer, topic]).toEqual([1, 'campaign', 'things']);
    // The six that are events also become dead letters of the service; the others belong to no one.
    expect(await outboxRows(database)).toHaveLength(6);

    // A second replica finds nothing to handle again, and nothing crashed.
    const admin = plainKafka().admin();
    await admin.connect();
    ending.push(() => admin.disconnect());
    const [offsets] = await admin.fetchOffsets({ groupId: group, topics: [`${prefix}things`] });
    expect(offsets?.partitions).toMatchObject([{ offset: String(poisons.length + 2) }]);
    expect(logs.text().slice(logged)).not.toMatch(/not reachable|Crash/);
    await listener.transport.stopConsuming();
    const next = await listen();
    await put([messageOf(good(3))]);
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([1, 2, 3]));
    expect(next.total()).toBe(1);
    expect(await letters()).toHaveLength(poisons.length);
  },
);

withKafka('a dead letter that still cannot be read remains one when it is replayed, with the reason', async () => {
  const { database, listener, put, good, letters } = await open();
  const stranger = { ...good(1), version: 2 };
  await put([{ key: 'a', value: 'not JSON' }, messageOf(stranger), messageOf({ ...good(2), key: 'a\0' })]);
  await eventually(async () => expect(await letters()).toHaveLength(2));
  await database.pool.query('UPDATE dead_letters SET replay_requested_at = now()');
  expect(await listener.consumer.replay()).toBe(0);
  expect(await letters()).toMatchObject([
    { attempts: 2, error: expect.stringMatching(/not valid JSON/), replay_requested_at: null },
    { attempts: 2, error: expect.stringMatching(/version 2/), replay_requested_at: null },
  ]);

  // The same bytes, once the service can read them: here as if its next release had the letter's text.
  const base64 = Buffer.from(JSON.stringify({ ...good(4), event_id: newUuid() })).toString('base64');
  await database.pool.query(
    `UPDATE dead_letters SET replay_requested_at = now(), envelope = jsonb_set(envelope, '{base64}', to_jsonb($1::text))
     WHERE envelope ? 'base64'`,
    [base64],
  );
  expect(await listener.consumer.replay()).toBe(1);
  expect(await effectsOf(database, 'campaign', 'a')).toContain(4);
  expect(await letters()).toHaveLength(1);
});

withKafka('a foreign producer with an unsupported compression does not stop the consumer', async () => {
  const { database, put, good } = await open();
  const { CompressionCodecs } = kafkajs;
  const unreadable = CompressionCodecs[CompressionTypes.ZSTD];
  // Only while it is written: the listener is of this process, too.
  Object.assign(CompressionCodecs, {
    [CompressionTypes.ZSTD]: () => ({
      compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer),
      decompress: async (buffer: Buffer) => zstdDecompressSync(buffer),
    }),
  });
  try {
    await put([messageOf(good(1))], CompressionTypes.ZSTD);
  } finally {
    Object.assign(CompressionCodecs, { [CompressionTypes.ZSTD]: unreadable });
  }
  await put([messageOf(good(2))]);
  await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([1, 2]));
});

withKafka(
  'an event that the broker refuses keeps back its own key alone, and too many at once go as fewer',
  async () => {
    const prefix = newPrefix();
    const { topic, number } = things(1);
    const admin = plainKafka().admin();
    await admin.connect();
    ending.push(() => admin.disconnect());
    const configEntries = [{ name: 'max.message.bytes', value: '4000' }];
    await admin.createTopics({
      waitForLeaders: false,
      topics: [{ topic: prefix + topic.name, numPartitions: 1, configEntries }],
    });
    const transport = kafka(prefix);
    transport.declare([topic]);
    await transport.start();
    ending.push(() => transport.close());
    await eventually(() => transport.check());

    const tooLarge = number('k'.repeat(6_000), 0).message;
    const messages = Array.from({ length: 40 }, (_, n) => number(`key ${n % 2}`, n).message);
    const { acknowledged, failed } = await transport.publish([
      ...messages.slice(0, 20),
      tooLarge,
      ...messages.slice(20),
    ]);
    expect(acknowledged).toEqual(messages.map(({ envelope }) => envelope.event_id));
    expect(failed).toMatchObject([{ message: tooLarge }]);
    const [ends] = await admin.fetchTopicOffsets(prefix + topic.name);
    expect(ends?.high).toBe('40');
  },
);
