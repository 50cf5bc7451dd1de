import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';

const lock = 'SELECT pg_try_advisory_lock(hashtextextended($1, 1)) AS held';
const unlock = 'SELECT pg_advisory_unlock(hashtextextended($1, 1))';

export interface LockKeeper {
  /**
   * Runs the work while holding an advisory lock. Returns undefined at once if another process holds it. The lock of a
   * process that dies is released with its connection.
   */
  withLock<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
}

/** The connection that holds the locks, as long as there are any. */
interface Session {
  readonly client: Promise<PoolClient>;
  readonly note: (error: Error) => void;
  holders: number;
  /** Settles when the connection is free for the next query: it runs one at a time. */
  turn: Promise<unknown>;
  broken?: Error;
}

/**
 * Holds any number of locks on a single connection of the pool. If each lock took a connection, holders could use up the
 * pool and then wait for each other's connections forever. One keeper must not lock a name twice at a time.
 */
export function createLockKeeper(pool: Pool): LockKeeper {
  let current: Session | undefined;

  function leave(session: Session): void {
    if (current === session) current = undefined;
  }

  function begin(): Session {
    const note = (error: Error) => {
      session.broken = error;
      leave(session);
    };
    const client = pool.connect();
    const session: Session = { client, note, holders: 0, turn: client.catch(() => {}) };
    client.then((one) => one.on('error', note), note);
    return session;
  }

  function ask<R extends QueryResultRow>(session: Session, sql: string, name: string): Promise<QueryResult<R>> {
    const answer = session.turn.then(async () => (await session.client).query<R>(sql, [name]));
    session.turn = answer.catch(() => {});
    return answer;
  }

  function giveBack(session: Session): void {
    if (--session.holders > 0) return;
    leave(session);
    session.client.then(
      (client) => {
        client.off('error', session.note);
        client.release(session.broken ?? false);
      },
      () => {}, // The pool had no connection.
    );
  }

  return {
    async withLock(name, work) {
      current ??= begin();
      const session = current;
      session.holders++;
      try {
        const { rows } = await ask<{ held: boolean }>(session, lock, name);
        if (!rows[0]?.held) return undefined;
        try {
          return await work();
        } finally {
          // Unlocking fails only if the connection is broken, and then the lock is released anyway.
          await ask(session, unlock, name).catch((error: Error) => {
            session.broken ??= error;
          });
        }
      } finally {
        giveBack(session);
      }
    },
  };
}
