import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Partitioners } from 'kafkajs';
import { byKeyHash } from '../src/partitioner.ts';

test('a key has the partition that Kafka’s own clients give it, whatever its length and letters', () => {
  const [ours, kafkas] = [byKeyHash(), Partitioners.DefaultPartitioner()];
  const partitionMetadata = Array.from({ length: 97 }, (_, partitionId) => ({
    partitionId,
    leader: 1,
    partitionErrorCode: 0,
    replicas: [1],
    isr: [1],
  }));
  for (let length = 1; length < 2_000; length++) {
    const key = randomBytes(length % 61).toString(length % 2 ? 'latin1' : 'hex') + length;
    const place = { topic: 'things', partitionMetadata, message: { key, value: '' } };
    expect(ours(place)).toBe(kafkas(place));
  }
});
