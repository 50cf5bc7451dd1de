import { isSerializationFailure } from '@attribution/database';
import type { NewEvent, Outbox, RowEvent } from '@attribution/messaging';
import { inBatches } from '@attribution/runtime';
import type { AccountDatabase } from '../store.ts';
import { type HoldRow, holdingTokens, type NewHold } from './hold.store.ts';

interface QueuedHold {
  readonly hold: NewHold;
  /** The event to append once the hold is made. */
  readonly event: NewEvent;
}

/** Makes a hold. Undefined means that it could not be made in a batch and needs its own transaction. */
export type HoldInBatch = (queued: QueuedHold) => Promise<HoldRow | undefined>;

/**
 * Holds that arrive while others are being written are collected and sent in one statement, in order of arrival.
 * However busy an account is, it is locked and its balance is written once per statement.
 */
export function createHoldInBatch({ database, outbox }: { database: AccountDatabase; outbox: Outbox }): HoldInBatch {
  async function make(queued: readonly QueuedHold[]): Promise<(HoldRow | undefined)[]> {
    const events = queued.map(({ hold: { id }, event }): RowEvent => ({ id, event }));
    const effect = holdingTokens(queued.map(({ hold }) => hold));
    const made = new Map<string, HoldRow>();
    try {
      for (const row of await outbox.appendWith<HoldRow>(database.sql, effect, events)) made.set(row.id, row);
    } catch (error) {
      // When the database refuses a batch, each hold is tried separately, so that one bad hold does not fail the
      // others. A deadlock is not a hold's fault, and a transaction of its own is repeated after it.
      if (queued.length === 1 && !isSerializationFailure(error)) throw error;
    }
    return queued.map(({ hold: { id } }) => made.get(id));
  }

  return inBatches(make);
}
