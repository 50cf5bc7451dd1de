import type { Sql } from '@attribution/database';

class Killed extends Error {}

/** A process's access to its database, up to the step at which the process dies: after that, no statement gets through. */
interface Mortal<Db> {
  readonly database: Db;
  readonly dead: boolean;
}

interface Database {
  readonly sql: Sql;
  sqlTransaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  ping(): Promise<void>;
}

/**
 * Simulates a process that dies at the `at`th step. There is a step after each statement outside a transaction, and after
 * each commit. A death anywhere else leaves the database as one of these does: before the next statement nothing has changed
 * since, and Postgres rolls back a transaction that has begun. Only `sql` and `sqlTransaction` are watched.
 */
export function mortal<Db extends Database>(database: Db, at: number): Mortal<Db> {
  let steps = 0;
  function requireAlive(): void {
    if (steps >= at) throw new Killed('The process was killed');
  }
  function step(): void {
    steps++;
    requireAlive();
  }
  const wrap = (sql: Sql, alone: boolean): Sql => {
    const guarded =
      <Given extends unknown[], T>(send: (...given: Given) => PromiseLike<T>) =>
      async (...given: Given) => {
        requireAlive();
        const result = await send(...given);
        if (alone) step();
        else requireAlive();
        return result;
      };
    return {
      $queryRaw: guarded(sql.$queryRaw) as Sql['$queryRaw'],
      $executeRaw: guarded(sql.$executeRaw),
      $queryRawUnsafe: guarded(sql.$queryRawUnsafe) as Sql['$queryRawUnsafe'],
      $executeRawUnsafe: guarded(sql.$executeRawUnsafe),
    };
  };
  const watched: Database = {
    sql: wrap(database.sql, true),
    async sqlTransaction(work) {
      requireAlive();
      const result = await database.sqlTransaction(async (tx) => {
        const done = await work(wrap(tx, false));
        requireAlive(); // Work that was begun beside it may have died meanwhile.
        return done;
      });
      step();
      return result;
    },
    async ping() {
      requireAlive();
      await database.ping();
    },
  };
  return {
    get dead() {
      return steps >= at;
    },
    database: { ...database, ...watched },
  };
}
