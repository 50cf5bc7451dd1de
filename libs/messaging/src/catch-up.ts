import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, SqlTransaction } from '@attribution/database';
import type { Logger } from 'pino';
import { lockProjections, type Projection } from './projection.ts';
import { asError } from './transport.ts';

interface Page {
  /** Null on the last page. */
  readonly next_cursor: string | null;
}

export interface CatchUpParts {
  readonly database: Pick<Database, 'sql' | 'sqlTransaction'>;
  readonly logger: Logger;
}

interface CatchUpOptions<P extends Page> extends CatchUpParts {
  /** Of the row in `projection_snapshots`: deleting that reads the snapshot anew. */
  readonly name: string;
  /** Asks for a page; `null` for the first. */
  readonly pages: (cursor: string | null) => Promise<P>;
  /** What projections make of a page: `groups.of(page.groups)`. */
  readonly apply: (page: P) => readonly ReturnType<Projection<never>['of']>[];
}

/** A job as @attribution/service runs it. */
export interface CatchUp {
  readonly name: string;
  readonly every: number;
  readonly run: (stopping: AbortSignal) => Promise<void>;
}

/** Milliseconds between looks whether there is anything to do, and between questions that fail. */
const every = 60_000;
const pauses = { first: 250, longest: 30_000 };

/** From where the page was asked for. */
const move = `
  UPDATE projection_snapshots SET cursor = $3, completed_at = CASE WHEN $3::text IS NULL THEN now() END
  WHERE name = $1 AND cursor IS NOT DISTINCT FROM $2 AND completed_at IS NULL`;

/**
 * The job that reads a snapshot into projections, once: page by page, each in a transaction with its cursor, so that
 * whoever comes next goes on from there. Events are handled meanwhile, in whatever order.
 */
export function catchUp<P extends Page>({ name, database, logger, pages, apply }: CatchUpOptions<P>): CatchUp {
  /** Where the next page begins; undefined when there is none. */
  async function position(): Promise<{ cursor: string | null } | undefined> {
    const find = () => database.sql.$queryRaw<{ cursor: string | null; completed_at: Date | null }[]>`
      SELECT cursor, completed_at FROM projection_snapshots WHERE name = ${name}`;
    let [row] = await find();
    if (!row) {
      await database.sql.$executeRaw`INSERT INTO projection_snapshots (name) VALUES (${name}) ON CONFLICT DO NOTHING`;
      [row] = await find();
    }
    return row?.completed_at ? undefined : { cursor: row?.cursor ?? null };
  }

  /** False, and nothing is done, when somebody else has gone on from there meanwhile. */
  function take(page: P, cursor: string | null): Promise<boolean> {
    return database.sqlTransaction(async (tx: SqlTransaction) => {
      await lockProjections(tx, true);
      const moved = await tx.$executeRawUnsafe(move, name, cursor, page.next_cursor);
      if (moved > 0) for (const write of apply(page)) await write(tx);
      return moved > 0;
    });
  }

  return {
    name: `catch-up-${name}`,
    every,
    async run(stopping) {
      let pause = pauses.first;
      let said: string | undefined;
      while (!stopping.aborted) {
        const at = await position();
        if (!at) return;
        const page = await pages(at.cursor).catch((cause: unknown) => {
          const { message } = asError(cause);
          if (message !== said)
            logger.warn({ err: cause, snapshot: name }, 'A snapshot cannot be read yet; trying again');
          said = message;
        });
        if (page) {
          const taken = await take(page, at.cursor);
          if (taken && page.next_cursor === null)
            logger.info({ snapshot: name }, 'A snapshot has been read to its end');
          pause = pauses.first;
          said = undefined;
        } else {
          await sleep(pause, undefined, { signal: stopping }).catch(() => {});
          pause = Math.min(pause * 2, pauses.longest);
        }
      }
    },
  };
}
