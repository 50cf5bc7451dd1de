import type { Sql } from '@attribution/database';
import type { OrganizationDatabase } from '../src/store.ts';

class Killed extends Error {}

/** A process's access to its database, up to the step at which the process dies: after that, no statement gets through. */
export interface Mortal {
  readonly database: OrganizationDatabase;
  readonly dead: boolean;
}

/**
 * Simulates a process that dies at the `at`th step. There is a step before and after each statement outside a transaction,
 * and before and after each commit. Other places in a transaction need none: Postgres rolls it back all the same.
 */
export function mortal(database: OrganizationDatabase, at: number): Mortal {
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
        const check = alone ? step : requireAlive;
        check();
        const result = await send(...given);
        check();
        return result;
      };
    return {
      $queryRaw: guarded(sql.$queryRaw) as Sql['$queryRaw'],
      $executeRaw: guarded(sql.$executeRaw),
      $queryRawUnsafe: guarded(sql.$queryRawUnsafe) as Sql['$queryRawUnsafe'],
      $executeRawUnsafe: guarded(sql.$executeRawUnsafe),
    };
  };
  return {
    get dead() {
      return steps >= at;
    },
    database: {
      ...database,
      sql: wrap(database.sql, true),
      async sqlTransaction(work) {
        requireAlive();
        const result = await database.sqlTransaction(async (tx) => {
          const done = await work(wrap(tx, false));
          step();
          return done;
        });
        step();
        return result;
      },
      async ping() {
        step();
        await database.ping();
      },
    },
  };
}
