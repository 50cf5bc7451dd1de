import type { Sql } from '@attribution/database';
import type { OrganizationDatabase } from '../src/store.ts';

class Killed extends Error {}

/** A process's way to its database, on which it dies: from one step on nothing it asks reaches the database. */
export interface Mortal {
  readonly database: OrganizationDatabase;
  readonly dead: boolean;
}

/**
 * Dies at the `at`th step. Steps are before and after each statement that is its own transaction, and before and after
 * each commit: wherever in a transaction a process dies, Postgres undoes it, as it does before the commit.
 */
export function mortal(database: OrganizationDatabase, at: number): Mortal {
  let steps = 0;
  function live(): void {
    if (steps >= at) throw new Killed('The process was killed');
  }
  function step(): void {
    steps++;
    live();
  }
  const over = (sql: Sql, alone: boolean): Sql => {
    const asked =
      <Given extends unknown[], T>(ask: (...given: Given) => PromiseLike<T>) =>
      async (...given: Given) => {
        const pass = alone ? step : live;
        pass();
        const answer = await ask(...given);
        pass();
        return answer;
      };
    return {
      $queryRaw: asked(sql.$queryRaw) as Sql['$queryRaw'],
      $executeRaw: asked(sql.$executeRaw),
      $queryRawUnsafe: asked(sql.$queryRawUnsafe) as Sql['$queryRawUnsafe'],
      $executeRawUnsafe: asked(sql.$executeRawUnsafe),
    };
  };
  return {
    get dead() {
      return steps >= at;
    },
    database: {
      ...database,
      sql: over(database.sql, true),
      async sqlTransaction(work) {
        live();
        const result = await database.sqlTransaction(async (tx) => {
          const done = await work(over(tx, false));
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
