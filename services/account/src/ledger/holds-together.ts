import type { NewEvent, Outbox, RowEvent } from '@attribution/messaging';
import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import type { AccountDatabase } from '../store.ts';
import { type HoldRow, holdingTokens, type NewHold } from './hold.store.ts';

/** Statements under way, so that one is worked on while the next is put together; and holds in one at most. */
const limits = { lanes: 2, holds: 64 };

interface Asked {
  readonly hold: NewHold;
  /** What tells of it once it is made. */
  readonly event: NewEvent;
}

/** Makes a hold. Undefined: it was not to be made so, and has to be looked at by itself. */
export type HoldTogether = (asked: Asked) => Promise<HoldRow | undefined>;

/**
 * Holds that are asked for while others are on their way to the database go there together, in the order in which they
 * came: however busy, an account is locked and its balance written once for all of them.
 */
export function createHoldTogether({ database, outbox }: { database: AccountDatabase; outbox: Outbox }): HoldTogether {
  const lane = pLimit(limits.lanes);
  let underWay: Promise<unknown> = Promise.resolve();

  async function make(asked: readonly Asked[]): Promise<(HoldRow | undefined)[]> {
    const events = asked.map(({ hold: { id }, event }): RowEvent => ({ id, event }));
    const effect = holdingTokens(asked.map(({ hold }) => hold));
    const made = new Map<string, HoldRow>();
    try {
      for (const row of await outbox.appendWith<HoldRow>(database.sql, effect, events)) made.set(row.id, row);
    } catch (error) {
      // One that the database refuses must not stand in the way of others: each is tried by itself.
      if (asked.length === 1) throw error;
    }
    return asked.map(({ hold: { id } }) => made.get(id));
  }

  const loader = new DataLoader<Asked, HoldRow | undefined>(
    (asked) => {
      const answers = make(asked);
      underWay = answers;
      return answers;
    },
    {
      cache: false,
      maxBatchSize: limits.holds,
      batchScheduleFn: (dispatch) =>
        void lane(async () => {
          dispatch();
          await underWay.catch(() => {}); // Told to those who asked.
        }),
    },
  );
  return (asked) => loader.load(asked);
}
