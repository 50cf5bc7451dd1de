import { randomFillSync } from 'node:crypto';

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

/** A new UUIDv7 (RFC 9562 §5.7). Of one millisecond's their order says nothing: where it must, take `newUuid`. */
export function newRequestId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const random = randomHex(10);
  const variant = '89ab'[Number.parseInt(random.slice(18, 19), 16) & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(3, 6)}-${random.slice(6, 18)}`;
}
