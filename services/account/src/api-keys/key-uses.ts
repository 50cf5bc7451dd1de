import type { RequestContext } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { type AuditRecord, audit, unknownActor } from '../audit/index.ts';
import type { AccountDatabase } from '../store.ts';
import { type ExchangeRow, touchApiKeys } from './api-key.store.ts';

type Key = Pick<ExchangeRow, 'id' | 'account_id'>;

/**
 * Collects uses of keys and attempts with wrong secrets in memory, so that the response time does not reveal whether a
 * key exists. Best effort: a crash loses a few seconds of records.
 */
export interface KeyUses {
  /** Notes that the key was exchanged for a token. */
  note(key: Key, request: RequestContext): void;
  noteWrongSecret(key: Key, request: RequestContext): void;
  /** Writes what was noted to the database: the time of last use, and the audit records. */
  flush(): Promise<void>;
}

interface Noted {
  readonly keyId: string;
  readonly accountId: string;
  readonly rightSecret: boolean;
  /** How often this was noted since the last flush. */
  readonly times: number;
  /** The time of the latest occurrence. */
  readonly at: Date;
  readonly request: NonNullable<AuditRecord['request']>;
}

/** Bounds the memory: beyond this many entries, wrong secrets are counted per key only, no longer per address. */
const maxSources = 10_000;
const batchSize = 1_000;

export function createKeyUses(deps: { database: AccountDatabase; clock: Clock }): KeyUses {
  const { database, clock } = deps;
  let noted = new Map<string, Noted>();

  function keep(
    source: string,
    key: Key,
    rightSecret: boolean,
    { id, platformId, ip, userAgent }: RequestContext,
  ): void {
    const times = (noted.get(source)?.times ?? 0) + 1;
    const request = { id, platformId, ip, userAgent };
    noted.set(source, { keyId: key.id, accountId: key.account_id, rightSecret, times, at: clock.now(), request });
  }

  /** Merges an entry that could not be written with what was noted since. */
  function mergeBack(source: string, old: Noted): void {
    const newer = noted.get(source);
    noted.set(source, newer ? { ...newer, times: newer.times + old.times } : old);
  }

  /** Records the use of a key at most once a minute, when its `last_used_at` is written. */
  const write = (batch: readonly Noted[]) =>
    database.sqlTransaction(async (tx) => {
      const touched = await touchApiKeys(
        tx,
        batch.filter(({ rightSecret }) => rightSecret),
      );
      await audit(
        tx,
        ...batch.filter(({ rightSecret, keyId }) => !rightSecret || touched.has(keyId)).map(auditRecordOf),
      );
    });

  return {
    note: (key, request) => keep(key.id, key, true, request),
    noteWrongSecret(key, request) {
      const source = noted.size < maxSources ? `${key.id} wrong from ${request.ip}` : `${key.id} wrong`;
      keep(source, key, false, request);
    },
    async flush() {
      const waiting = [...noted];
      noted = new Map();
      while (waiting.length > 0) {
        const batch = waiting.slice(0, batchSize);
        try {
          await write(batch.map(([, one]) => one));
        } catch (error) {
          for (const [source, one] of waiting) mergeBack(source, one);
          throw error;
        }
        waiting.splice(0, batch.length);
      }
    },
  };
}

function auditRecordOf({ keyId, accountId, rightSecret, times, at, request }: Noted): AuditRecord {
  const key = { type: 'api_key', id: keyId } as const;
  const record = { accountId, subject: key, request, now: at };
  if (rightSecret) return { ...record, action: 'api_key.used', actor: key };
  const details = { reason: 'wrong_secret', attempts: times };
  return { ...record, action: 'api_key.exchanged', outcome: 'refused', actor: unknownActor, details };
}
