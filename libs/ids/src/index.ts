import { type IdKind, idPrefixes } from '@attribution/contracts';
import { v7 as uuidv7 } from 'uuid';

/**
 * A new id. Ids of one kind sort by the order in which this process made them, those of one millisecond too: Node's own
 * `crypto.randomUUIDv7` does not promise that.
 */
export function newId(kind: IdKind): string {
  return `${idPrefixes[kind]}_${newUuid()}`;
}

/** A bare UUIDv7 in the same order, for what is no resource: events, cursors, sessions. */
export function newUuid(): string {
  return uuidv7();
}
