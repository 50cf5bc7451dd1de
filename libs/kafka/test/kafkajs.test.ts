/** What kafkajs does that decides how it is used (ADR 21): where a later version no longer does, look at it anew. */

import { brokers, endAfterEach, kafka, newPrefix, plainKafka, things, withKafka } from '@attribution/messaging/testing';
import { eventually } from '@attribution/testing';
import { expect, jest } from '@jest/globals';
import type { Producer } from 'kafkajs';
import { api, startWire, type Wire } from './support-wire.ts';

const ending = endAfterEach();

/** An idempotent producer that has lost the broker's answer to its first message, until it gave that up. */
async function withLostAnswer() {
  const topic = `${newPrefix()}kafkajs`;
  const admin = plainKafka().admin();
  await admin.connect();
  ending.push(() => admin.disconnect());
  await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1 }] });
  const wire: Wire = await startWire(brokers?.[0] ?? '');
  ending.push(() => wire.stop());
  const retry = { retries: 1, initialRetryTime: 50 };
  const producer: Producer = plainKafka([wire.broker]).producer({ idempotent: true, maxInFlightRequests: 1, retry });
  await producer.connect();
  ending.push(() => producer.disconnect());
  const send = (...values: string[]) => producer.send({ topic, messages: values.map((value) => ({ value })) });

  wire.disturb(({ api: kind, isAnswer }) => (kind === api.produce && isAnswer ? 'cut' : 'pass'));
  await expect(send('first')).rejects.toThrow();
  wire.disturb(() => 'pass');
  const written = async () => (await admin.fetchTopicOffsets(topic))[0]?.high;
  expect(await written()).toBe('1');
  return { send, written };
}

withKafka(
  'its idempotent producer, having lost an answer, says of another message that it is written: it is not',
  async () => {
    const { send, written } = await withLostAnswer();
    await send('second'); // With the sequence of the first, so that the broker takes it for that one.
    expect(await written()).toBe('1');
  },
);

withKafka(
  'its idempotent producer, having lost an answer, is refused for ever with a batch of another size',
  async () => {
    const { send, written } = await withLostAnswer();
    for (let attempt = 0; attempt < 3; attempt++)
      await expect(send('second', 'third')).rejects.toMatchObject({ type: 'OUT_OF_ORDER_SEQUENCE_NUMBER' });
    expect(await written()).toBe('1');
  },
);

withKafka('a consumer whose machine’s clock is set back by minutes keeps its place', async () => {
  const prefix = newPrefix();
  const transport = kafka(prefix, undefined, { sessionTimeout: 6_000 });
  transport.declare([things(3).topic]);
  transport.subscribe({ group: 'set-back', topics: ['things'], handle: async () => [], setAside: async () => {} });
  await transport.start();
  ending.push(() => transport.close());
  const admin = plainKafka().admin();
  await admin.connect();
  ending.push(() => admin.disconnect());
  const members = async () =>
    (await admin.describeGroups([`${prefix}attribution.set-back`])).groups[0]?.members.map(({ memberId }) => memberId);
  const [member] = await eventually(async () => {
    const there = (await members()) ?? [];
    expect(there).toHaveLength(1);
    return there;
  });

  const clock = jest.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() - 150_000);
  ending.push(async () => clock.mockRestore());
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  expect(await members()).toEqual([member]);
});

withKafka('a transport with nothing to do leaves the processor alone, and sets no timeout below nothing', async () => {
  const transport = kafka(newPrefix());
  transport.declare([things(3).topic]);
  transport.subscribe({ group: 'idle', topics: ['things'], handle: async () => [], setAside: async () => {} });
  await transport.start();
  ending.push(() => transport.close());
  await eventually(() => transport.check());
  const timeouts = jest.spyOn(globalThis, 'setTimeout');
  ending.push(async () => timeouts.mockRestore());
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const delays = timeouts.mock.calls.map(([, delay]) => Number(delay));
  expect(delays.filter((delay) => delay < 0)).toEqual([]);
  expect(delays.length).toBeLessThan(50); // kafkajs by itself sets some hundreds for each connection.
});
