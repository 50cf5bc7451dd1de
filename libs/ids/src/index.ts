import { type IdKind, idPrefixes } from '@attribution/contracts';
import { v7 as uuidv7 } from 'uuid';

/**
 * A new id. Ids of one kind sort in the order in which this process made them, even within one millisecond, which Node's
 * `crypto.randomUUIDv7` does not guarantee.
 */
export function newId(kind: IdKind): string {
  return `${idPrefixes[kind]}_${newUuid()}`;
}

/** A bare UUIDv7 with the same order, for what is not a resource: events, cursors, sessions. */
export function newUuid(): string {
  return uuidv7();
}
