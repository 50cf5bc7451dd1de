import { randomFillSync, randomUUIDv7 } from 'node:crypto';

/** Filled at once, because a call of the system's generator costs microseconds however few bytes it returns. */
const pool = Buffer.allocUnsafe(4096);
let used = pool.length;

/** Random bytes as hexadecimal digits, for unique names, not for secrets. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}

/** A new UUIDv7. Those of one millisecond are in no order; where the order matters, use `newUuid` of libs/ids. */
export const newRequestId = (): string => randomUUIDv7();
