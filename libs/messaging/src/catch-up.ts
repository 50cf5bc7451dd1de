import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, SqlTransaction } from '@attribution/database';
import type { Logger } from 'pino';
import { lockProjections, type Projection } from './projection.ts';
import { asError } from './transport.ts';

interface Page {
  /** Null on the last page. */
  readonly next_cursor: string | null;
}

export interface CatchUpDependencies {
  readonly database: Pick<Database, 'sql' | 'sqlTransaction'>;
  readonly logger: Logger;
}

interface CatchUpOptions<P extends Page> extends CatchUpDependencies {
  /** Name of the row in `projection_snapshots`: to delete the row is to read the snapshot anew. */
  readonly name: string;
  /** Requests a page; `null` for the first one. */
  readonly pages: (cursor: string | null) => Promise<P>;
  /** The projections' writes for a page: `groups.of(page.groups)`. */
  readonly apply: (page: P) => readonly ReturnType<Projection<never>['of']>[];
  /** Milliseconds after the first request that fails, which double up to the longest. Default: 250 and 30,000. */
  readonly pauses?: typeof defaultPauses;
}

/** A job as @attribution/service runs it. */
export interface CatchUp {
  readonly name: string;
  readonly every: number;
  readonly run: (stopping: AbortSignal) => Promise<void>;
}

/** Milliseconds between runs of the job. */
const every = 60_000;
const defaultPauses = { first: 250, longest: 30_000 };

/** Moves the cursor past a page, unless another replica has moved it. */
const moveCursor = `
  UPDATE projection_snapshots SET cursor = $3, completed_at = CASE WHEN $3::text IS NULL THEN now() END
  WHERE name = $1 AND cursor IS NOT DISTINCT FROM $2 AND completed_at IS NULL`;

/**
 * The job that reads a snapshot into projections, once: page by page, each in a transaction with its cursor, so that the
 * next process continues from there. Events are handled meanwhile, in whatever order.
 */
export function catchUp<P extends Page>(options: CatchUpOptions<P>): CatchUp {
  const { name, database, logger, pages, apply, pauses = defaultPauses } = options;
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

  /** False, and nothing is written, when another process has moved the cursor meanwhile. */
  function write(page: P, cursor: string | null): Promise<boolean> {
    return database.sqlTransaction(async (tx: SqlTransaction) => {
      await lockProjections(tx, true);
      const moved = await tx.$executeRawUnsafe(moveCursor, name, cursor, page.next_cursor);
      if (moved > 0) for (const write of apply(page)) await write(tx);
      return moved > 0;
    });
  }

  return {
    name: `catch-up-${name}`,
    every,
    async run(stopping) {
      let pause = pauses.first;
      let lastError: string | undefined;
      while (!stopping.aborted) {
        const at = await position();
        if (!at) return;
        const page = await pages(at.cursor).catch((cause: unknown) => {
          const { message } = asError(cause);
          if (message !== lastError)
            logger.warn({ err: cause, snapshot: name }, 'A snapshot cannot be read yet; trying again');
          lastError = message;
        });
        if (page) {
          const written = await write(page, at.cursor);
          if (written && page.next_cursor === null)
            logger.info({ snapshot: name }, 'A snapshot has been read to its end');
          pause = pauses.first;
          lastError = undefined;
        } else {
          await sleep(pause, undefined, { signal: stopping }).catch(() => {});
          pause = Math.min(pause * 2, pauses.longest);
        }
      }
    },
  };
}
