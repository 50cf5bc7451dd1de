import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import { isHeldUp, type Sql } from '@attribution/database';
import { createTurns } from '@attribution/runtime';
import { LRUCache } from 'lru-cache';
import type { EventsDatabase } from '../store.ts';

/** Who asks, and for what: the operation, and the campaign. */
interface Asked {
  readonly caller: Principal;
  readonly about: string;
}

type Read = <T>(asked: Asked, work: (tx: Sql) => Promise<T>) => Promise<T>;

/**
 * Reads figures. What takes longer than a statement may is begun once more, in turn and with time of its own: those of a
 * million visitors take some seconds. Throws `unavailable` when its turn does not come, or its time is over.
 */
export interface ReadFigures {
  /** Of one statement. */
  readonly statement: Read;
  /** Of several, which see the same moment. */
  readonly snapshot: Read;
}

interface Limits {
  /** Milliseconds for a turn to come, and for the work itself: with the statement that took too long, less than a gateway waits. */
  readonly maxWaitMs: number;
  readonly longestMs: number;
}

/** Each has a connection of its own, so that those of the pool stay with everybody else. */
const shares = { total: 2, perLane: 1, perCaller: 1 };
const maxWaiting = 8;

/** What took long is not begun in vain the next time. */
const remembered = { max: 1_000, ttl: 600_000 };

const busy = () =>
  new Problem('unavailable', 'Figures of many visitors are being read for others of your account. Try again.', {
    'retry-after': '5',
  });
const tooLong = (ms: number) =>
  new Problem('unavailable', `This takes longer than ${ms / 1000} s. Ask for fewer days or locations.`);

export function createReadFigures(
  database: EventsDatabase,
  { maxWaitMs, longestMs }: Limits = { maxWaitMs: 4_000, longestMs: 20_000 },
): ReadFigures {
  const turns = createTurns({ ...shares, maxWaiting, maxWaitMs, busy });
  const long = new LRUCache<string, true>(remembered);

  async function inTurn<T>({ caller }: Asked, work: (tx: Sql) => Promise<T>): Promise<T> {
    const end = await turns.take({ lane: caller.accountId, caller: caller.id });
    const limit = AbortSignal.timeout(longestMs);
    try {
      // The connection ends after the work, and its transaction with it.
      return await database.session(async (session) => {
        await session.$executeRawUnsafe('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        return work(session);
      }, limit);
    } catch (error) {
      throw limit.aborted ? tooLong(longestMs) : error;
    } finally {
      end();
    }
  }

  const reading =
    (atOnce: <T>(work: (tx: Sql) => Promise<T>) => Promise<T>): Read =>
    async (asked, work) => {
      const key = `${asked.caller.accountId} ${asked.about}`;
      if (!long.has(key)) {
        try {
          return await atOnce(work);
        } catch (error) {
          if (!isHeldUp(error)) throw error;
          long.set(key, true);
        }
      }
      return inTurn(asked, work);
    };

  return {
    statement: reading((work) => work(database.sql)),
    snapshot: reading((work) => database.snapshot(work)),
  };
}
