import type { RequestContext } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { audit, type Deed, nobody } from '../audit/index.ts';
import type { AccountDatabase } from '../store.ts';
import { type ExchangeRow, touchApiKeys } from './api-key.store.ts';

type Key = Pick<ExchangeRow, 'id' | 'account_id'>;

/**
 * Remembers uses of keys and attempts at them, off the way of a request: its time does not tell whether a key exists.
 * Best effort: a crash loses some seconds of it.
 */
export interface KeyUses {
  /** A token was given. */
  note(key: Key, request: RequestContext): void;
  noteWrongSecret(key: Key, request: RequestContext): void;
  /** Writes down what was noted: when keys were used last, and the records of it. */
  flush(): Promise<void>;
}

interface Noted {
  readonly keyId: string;
  readonly accountId: string;
  readonly rightSecret: boolean;
  /** How often, since the last flush. */
  readonly times: number;
  /** The latest time. */
  readonly at: Date;
  readonly request: NonNullable<Deed['request']>;
}

/** Beyond so many, wrong secrets are told apart by their keys alone: what waits is bounded, wherever an attack is from. */
const mostPlaces = 10_000;
const writtenAtOnce = 1_000;

export function createKeyUses(parts: { database: AccountDatabase; clock: Clock }): KeyUses {
  const { database, clock } = parts;
  let noted = new Map<string, Noted>();

  function keep(place: string, key: Key, rightSecret: boolean, { id, ip, userAgent }: RequestContext): void {
    const times = (noted.get(place)?.times ?? 0) + 1;
    const request = { id, ip, userAgent };
    noted.set(place, { keyId: key.id, accountId: key.account_id, rightSecret, times, at: clock.now(), request });
  }

  /** Beside what was noted since. */
  function putBack(place: string, old: Noted): void {
    const newer = noted.get(place);
    noted.set(place, newer ? { ...newer, times: newer.times + old.times } : old);
  }

  /** A key is told of as used once a minute at most, as its `last_used_at` is written then. */
  const write = (some: readonly Noted[]) =>
    database.sqlTransaction(async (tx) => {
      const touched = await touchApiKeys(
        tx,
        some.filter(({ rightSecret }) => rightSecret),
      );
      await audit(tx, ...some.filter(({ rightSecret, keyId }) => !rightSecret || touched.has(keyId)).map(deedOf));
    });

  return {
    note: (key, request) => keep(key.id, key, true, request),
    noteWrongSecret(key, request) {
      const place = noted.size < mostPlaces ? `${key.id} wrong from ${request.ip}` : `${key.id} wrong`;
      keep(place, key, false, request);
    },
    async flush() {
      const waiting = [...noted];
      noted = new Map();
      while (waiting.length > 0) {
        const some = waiting.slice(0, writtenAtOnce);
        try {
          await write(some.map(([, one]) => one));
        } catch (error) {
          for (const [place, one] of waiting) putBack(place, one);
          throw error;
        }
        waiting.splice(0, some.length);
      }
    },
  };
}

function deedOf({ keyId, accountId, rightSecret, times, at, request }: Noted): Deed {
  const key = { type: 'api_key', id: keyId } as const;
  const deed = { accountId, subject: key, request, now: at };
  if (rightSecret) return { ...deed, action: 'api_key.used', actor: key };
  const details = { reason: 'wrong_secret', attempts: times };
  return { ...deed, action: 'api_key.exchanged', outcome: 'refused', actor: nobody, details };
}
