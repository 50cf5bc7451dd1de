import { createHash } from 'node:crypto';
import { Envelope } from '@attribution/contracts';
import { z } from 'zod';

/** What came on a topic and is no event. */
export interface Unreadable {
  /** A UUID of where it lies and what it is: the same each time it comes. */
  readonly id: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly value: Buffer | null;
  /** For people. */
  readonly reason: string;
}

/** An event, of the text in which it travels; throws with the reason where it is none. */
export function readEnvelope(value: Buffer | null): Envelope {
  if (value === null) throw new Error('It has no value');
  const { data, error } = Envelope.safeParse(JSON.parse(String(value)));
  if (data) return data;
  throw new Error(`It is no event: ${z.prettifyError(error)}`);
}

/** What could not be read, for a reason. */
export function unreadable(place: Omit<Unreadable, 'id' | 'reason'>, cause: unknown): Unreadable {
  const { topic, partition, offset, value } = place;
  const hash = createHash('sha256').update(`${topic} ${partition} ${offset} `);
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { ...place, id: uuidOf(hash.update(value ?? '').digest()), reason };
}

/** A UUID of version 8, which leaves its bits to whoever makes it (RFC 9562). */
function uuidOf(hash: Buffer): string {
  const bytes = Buffer.from(hash.subarray(0, 16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
