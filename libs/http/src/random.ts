import { randomFillSync, randomUUIDv7 } from 'node:crypto';

/** The system is asked for much at once: a call costs microseconds, however little it gives. */
const pool = Buffer.allocUnsafe(4096);
let used = pool.length;

/** Random bytes as hexadecimal digits; for names that must not meet, not for secrets. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}

/** A new UUIDv7. Of one millisecond's their order says nothing: where it must, take `newUuid` of libs/ids. */
export const newRequestId = (): string => randomUUIDv7();
