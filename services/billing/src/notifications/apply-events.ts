import { isServerTrouble } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import { inTrace } from '@attribution/service';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { BillingDatabase, Refresh } from '../store.ts';
import { type DueEvent, findDue, markDone, postpone } from './provider-event.store.ts';

export const applyJob = 'apply-provider-events';

/** The number of provider objects that are fetched concurrently. Each fetch occupies a database connection. */
const concurrency = 4;
const batchSize = 200;
const minute = 60_000;

export interface ApplyDependencies {
  readonly database: BillingDatabase;
  readonly refresh: Refresh;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Applies all due notifications. An object with several notifications is fetched once. */
export async function applyEvents(deps: ApplyDependencies): Promise<void> {
  const { database, clock } = deps;
  const lane = pLimit(concurrency);
  for (;;) {
    const due = await findDue(database.sql, clock.now(), batchSize);
    if (due.length === 0) return;
    const objects = Map.groupBy(due, ({ object_kind, object_id }) => `${object_kind} ${object_id}`);
    const works = [...objects.values()].map((events) => lane(() => applyTogether(deps, events)));
    const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}

async function applyTogether({ database, refresh, clock, logger }: ApplyDependencies, events: readonly DueEvent[]) {
  const [first] = events;
  if (!first) return;
  const ids = events.map(({ id }) => id);
  try {
    const work = () => refresh(first.object_kind, first.object_id);
    // The resulting changes are traced to the first of several notifications.
    await (first.traceparent === null ? work() : inTrace({ traceparent: first.traceparent }, work));
    await markDone(database.sql, ids);
  } catch (error) {
    // Our own database failed. It may recover before the retry delay of the notifications is over.
    if (isServerTrouble(error)) throw error;
    const attempts = Math.max(...events.map((event) => event.attempts)) + 1;
    const object = { kind: first.object_kind, object_id: first.object_id, attempts };
    logger.warn({ err: error, ...object }, 'A notification could not be acted on; it is tried again');
    const message = error instanceof Error ? error.message : String(error);
    await postpone(database.sql, ids, { error: message.slice(0, 500), dueAt: nextTry(clock.now(), attempts) });
  }
}

/** 1 s, 2 s, 4 s … to 10 minutes. */
const nextTry = (now: Date, attempts: number) =>
  new Date(now.getTime() + Math.min(1_000 * 2 ** (attempts - 1), 10 * minute));
