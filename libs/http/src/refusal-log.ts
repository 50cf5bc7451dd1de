import type { AuditEntry } from '@attribution/contracts';
import { newRequestId } from './random.ts';
import type { RequestContext } from './request.ts';

/** A request of a known caller that was refused with 403. */
export interface Refused {
  readonly accountId: string;
  readonly actor: AuditEntry['actor'];
  readonly operation: string;
  readonly subject: AuditEntry['subject'];
  /** The problem's `detail`. */
  readonly reason: string;
  readonly request: Pick<RequestContext, 'id' | 'platformId' | 'ip' | 'userAgent'>;
}

/**
 * Brings refusals into the audit log, so few that nobody can flood it: the first of an actor at an endpoint at once, and the
 * further ones of each minute as one record with their count.
 */
export interface RefusalLog {
  note(refused: Refused): void;
  /** Writes the counts of the minutes that have not ended. */
  close(): Promise<void>;
}

interface Options {
  readonly write: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Called with the number of records that were not written: there were too many, or `write` failed. */
  readonly onLost: (count: number, error?: unknown) => void;
  readonly now: () => Date;
  readonly windowMs?: number;
  /** Actors and endpoints that are counted at a time, of all accounts and of one. */
  readonly limits?: { readonly windows: number; readonly windowsOfAccount: number; readonly waiting: number };
}

/** The last of the refusals that no record counts yet. */
interface Window {
  readonly ends: number;
  readonly last: Refused;
  readonly count: number;
}

/** Records that are written together, at most. */
const batchSize = 100;
const usualLimits = { windows: 10_000, windowsOfAccount: 100, waiting: 1_000 };

export function createRefusalLog(options: Options): RefusalLog {
  const { write, onLost, now, windowMs = 60_000, limits = usualLimits } = options;
  /** By actor and endpoint, in the order in which they end. */
  const windows = new Map<string, Window>();
  const ofAccount = new Map<string, number>();
  let waiting: AuditEntry[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function put(refused: Refused, count: number): void {
    if (waiting.length >= limits.waiting) onLost(1);
    else waiting.push(entryOf(refused, count, now()));
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
  }

  async function writeAll(): Promise<void> {
    await Promise.resolve(); // What is noted in this turn of the event loop is written together.
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize);
      waiting = waiting.slice(batchSize);
      await write(batch).catch((error: unknown) => onLost(batch.length, error));
    }
  }

  function open(key: string, refused: Refused): void {
    windows.set(key, { ends: performance.now() + windowMs, last: refused, count: 0 });
    timer ??= setInterval(sweep, Math.min(1_000, windowMs)).unref();
  }

  /** Ends windows. One that has counted something begins anew with its record, so that there is one a minute. */
  function sweep(): void {
    for (const [key, { ends, last, count }] of windows) {
      if (ends > performance.now()) break;
      windows.delete(key);
      if (count > 0) {
        put(last, count);
        open(key, last);
      } else leave(last.accountId);
    }
    if (windows.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function leave(accountId: string): void {
    const left = (ofAccount.get(accountId) ?? 1) - 1;
    if (left > 0) ofAccount.set(accountId, left);
    else ofAccount.delete(accountId);
  }

  return {
    note(refused) {
      const { accountId, actor, operation } = refused;
      const key = JSON.stringify([accountId, actor.id, operation]);
      const window = windows.get(key);
      if (window) {
        windows.set(key, { ...window, last: refused, count: window.count + 1 });
        return;
      }
      const count = ofAccount.get(accountId) ?? 0;
      if (windows.size >= limits.windows || count >= limits.windowsOfAccount) return onLost(1);
      ofAccount.set(accountId, count + 1);
      open(key, refused);
      put(refused, 1);
    },
    async close() {
      clearInterval(timer);
      timer = undefined;
      for (const { last, count } of windows.values()) if (count > 0) put(last, count);
      windows.clear();
      ofAccount.clear();
      await writing;
    },
  };
}

const entryOf = ({ accountId, actor, operation, subject, reason, request }: Refused, count: number, now: Date) =>
  ({
    id: newRequestId(),
    account_id: accountId,
    occurred_at: now.toISOString(),
    action: operation,
    outcome: 'refused',
    actor: { type: actor.type, id: actor.id.slice(0, 200) },
    subject,
    ip: request.ip.slice(0, 64),
    user_agent: request.userAgent,
    request_id: request.id,
    platform_request_id: request.platformId,
    details: { reason: reason.slice(0, 300), ...(count > 1 && { count }) },
  }) satisfies AuditEntry;
