import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';

const lock = 'SELECT pg_try_advisory_lock(hashtextextended($1, 1)) AS held';
const unlock = 'SELECT pg_advisory_unlock(hashtextextended($1, 1))';

export interface LockKeeper {
  /**
   * Runs the work while holding a lock that is one in the whole database. Undefined, at once, when another process holds
   * it. A process that dies gives it back with its connection.
   */
  withLock<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
}

/** The connection that holds locks, while there are any. */
interface Session {
  readonly client: Promise<PoolClient>;
  readonly note: (error: Error) => void;
  holders: number;
  /** A connection is asked one thing at a time. */
  turn: Promise<unknown>;
  broken?: Error;
}

/**
 * Keeps all its locks on one connection of the pool, however many are held: whoever holds one and works on other
 * connections never waits for others who do the same. Of one keeper, a name is one user's at a time.
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
      () => {}, // It never came.
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
          // It fails only with the connection, and then the lock is gone with that.
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
