import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ProviderError } from '../payment-provider.ts';
import { dueOf, type Kind, type ObjectOf, ownerOf, type SimulatedObject } from './objects.ts';
import { canonical, schema } from './schema.ts';

/** How long to wait for another process to release the file, in milliseconds. */
const lockTimeoutMs = 2_000;
const pause = new Int32Array(new SharedArrayBuffer(4));

export interface KeptEvent {
  readonly sequence: number;
  /** The JSON text that is sent. */
  readonly body: string;
  readonly attempts: number;
}

/**
 * The database of the simulated provider. One process writes, others may read. Calls are synchronous, so that
 * transactions of this process never interleave.
 */
export interface SimulatedStore {
  transaction<T>(work: () => T): T;
  /** Runs the reads on one consistent state, without waiting for a writer. */
  snapshot<T>(work: () => T): T;
  /**
   * Runs the work once per key. A decline counts as a result: its writes are kept, and repeated calls throw it again.
   */
  once<T>(key: string, operation: string, request: unknown, at: number, work: () => T): T;
  /** Throws `not_found`. */
  get<K extends Kind>(kind: K, id: string): ObjectOf<K>;
  find<K extends Kind>(kind: K, id: string): ObjectOf<K> | undefined;
  /** Oldest first. */
  ownedBy<K extends Kind>(kind: K, owner: string): ObjectOf<K>[];
  put<O extends SimulatedObject>(object: O): O;
  /** The object with the earliest due change, if that change is due. In seconds since the epoch. */
  due(now: number): SimulatedObject | undefined;
  appendEvent(id: string, created: number, body: string): void;
  eventsSince(created: number, after: number, limit: number): KeptEvent[];
  /** The next notification to send. In milliseconds since the epoch. */
  undelivered(now: number): KeptEvent | undefined;
  /** `nextAt` is the time of the next attempt; null when the notification was accepted or given up. */
  afterDelivery(sequence: number, nextAt: number | null): void;
  forgetKeys(before: number): void;
  close(): void;
}

/** `file`: a path, or `:memory:`. */
export function openStore(file: string): SimulatedStore {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  const db = openDatabase(file);
  const one = (sql: string, ...values: (string | number | null)[]) => db.prepare(sql).get(...values);
  const all = (sql: string, ...values: (string | number | null)[]) => db.prepare(sql).all(...values);
  const run = (sql: string, ...values: (string | number | null)[]) => db.prepare(sql).run(...values);

  const within = <T>(begin: string, work: () => T): T => {
    if (db.isTransaction) return work();
    db.exec(begin);
    try {
      const result = work();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };

  const store: SimulatedStore = {
    transaction(work) {
      return within('BEGIN IMMEDIATE', work);
    },
    snapshot(work) {
      return within('BEGIN', work);
    },
    once<T>(key: string, operation: string, request: unknown, at: number, work: () => T): T {
      const hash = createHash('sha256')
        .update(canonical([operation, request]))
        .digest('hex');
      const answer = store.transaction((): Answer<T> => {
        const kept = one('SELECT hash, answer FROM keys WHERE key = ?', key);
        if (kept && kept.hash !== hash) throw new ProviderError('refused', 'The key was used for another request.');
        if (kept) return JSON.parse(String(kept.answer)) as Answer<T>;
        const made = answerOf(work);
        run('INSERT INTO keys (key, hash, answer, created) VALUES (?, ?, ?, ?)', key, hash, JSON.stringify(made), at);
        return made;
      });
      if ('declined' in answer) throw new ProviderError('declined', answer.declined);
      return answer.result;
    },
    find<K extends Kind>(kind: K, id: string) {
      const row = one('SELECT data FROM objects WHERE id = ? AND kind = ?', id, kind);
      return row && (JSON.parse(String(row.data)) as ObjectOf<K>);
    },
    get(kind, id) {
      const found = store.find(kind, id);
      if (!found) throw new ProviderError('not_found', `No such ${kind}: ${id}`);
      return found;
    },
    ownedBy<K extends Kind>(kind: K, owner: string) {
      const rows = all('SELECT data FROM objects WHERE kind = ? AND owner = ? ORDER BY sequence', kind, owner);
      return rows.map((row) => JSON.parse(String(row.data)) as ObjectOf<K>);
    },
    put(object) {
      run(
        `INSERT INTO objects (id, kind, owner, due_at, data) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, due_at = excluded.due_at, data = excluded.data`,
        object.id,
        object.object,
        ownerOf(object),
        dueOf(object),
        JSON.stringify(object),
      );
      return object;
    },
    due(now) {
      const row = one('SELECT data FROM objects WHERE due_at <= ? ORDER BY due_at, sequence LIMIT 1', now);
      return row && (JSON.parse(String(row.data)) as SimulatedObject);
    },
    appendEvent(id, created, body) {
      run('INSERT INTO events (id, created, body, next_at) VALUES (?, ?, ?, 0)', id, created, body);
    },
    eventsSince(created, after, limit) {
      const rows = all(
        'SELECT * FROM events WHERE created >= ? AND sequence > ? ORDER BY sequence LIMIT ?',
        created,
        after,
        limit,
      );
      return rows as unknown as KeptEvent[];
    },
    undelivered(now) {
      const row = one('SELECT * FROM events WHERE next_at <= ? ORDER BY next_at, sequence LIMIT 1', now);
      return row as KeptEvent | undefined;
    },
    afterDelivery(sequence, nextAt) {
      run('UPDATE events SET attempts = attempts + 1, next_at = ? WHERE sequence = ?', nextAt, sequence);
    },
    forgetKeys(before) {
      run('DELETE FROM keys WHERE created < ?', before);
    },
    close: () => db.close(),
  };
  return store;
}

/** In WAL mode a transaction is complete or absent after a process was killed, and readers do not wait for writers. */
function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: lockTimeoutMs });
  for (const end = Date.now() + lockTimeoutMs; ; Atomics.wait(pause, 0, 0, 20)) {
    try {
      db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${schema}`);
      return db;
    } catch (error) {
      // When several processes switch a new file to WAL at once, SQLite fails all but one without waiting.
      if (Date.now() < end) continue;
      db.close();
      throw error;
    }
  }
}

type Answer<T> = { readonly result: T } | { readonly declined: string };

function answerOf<T>(work: () => T): Answer<T> {
  try {
    return { result: work() };
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'declined') return { declined: error.message };
    throw error;
  }
}
