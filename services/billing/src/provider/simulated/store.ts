import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ProviderError } from '../payment-provider.ts';
import { dueOf, type Kind, type ObjectOf, ownerOf, type SimulatedObject } from './objects.ts';
import { canonical, schema } from './schema.ts';

/** Milliseconds for which another process may hold the file. */
const patience = 2_000;
const pause = new Int32Array(new SharedArrayBuffer(4));

export interface KeptEvent {
  readonly sequence: number;
  /** As it is sent. */
  readonly body: string;
  readonly attempts: number;
}

/**
 * Written by one process, and read by others besides. Its calls are synchronous, so that a transaction is never
 * interrupted by another.
 */
export interface SimulatedStore {
  transaction<T>(work: () => T): T;
  /** One state of it all, without waiting for whoever writes. */
  snapshot<T>(work: () => T): T;
  /** Done once under a key. A decline is an answer too: what was written about it stays, and it is thrown again. */
  once<T>(key: string, operation: string, request: unknown, at: number, work: () => T): T;
  /** Throws `not_found`. */
  get<K extends Kind>(kind: K, id: string): ObjectOf<K>;
  find<K extends Kind>(kind: K, id: string): ObjectOf<K> | undefined;
  /** Oldest first. */
  ownedBy<K extends Kind>(kind: K, owner: string): ObjectOf<K>[];
  put<O extends SimulatedObject>(object: O): O;
  /** The one that time changes next, if its time has come. Seconds since the epoch. */
  due(now: number): SimulatedObject | undefined;
  appendEvent(id: string, created: number, body: string): void;
  eventsSince(created: number, after: number, limit: number): KeptEvent[];
  /** The next that is to be sent. Milliseconds since the epoch. */
  undelivered(now: number): KeptEvent | undefined;
  /** `nextAt`: when it is sent again; null: never, as it was taken, or is given up. */
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

/** In WAL mode a process that is killed leaves each transaction whole or not at all, and readers wait for nobody. */
function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: patience });
  for (const end = Date.now() + patience; ; Atomics.wait(pause, 0, 0, 20)) {
    try {
      db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${schema}`);
      return db;
    } catch (error) {
      // Of those that make a new file WAL at once SQLite lets all but one fail, without waiting.
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
