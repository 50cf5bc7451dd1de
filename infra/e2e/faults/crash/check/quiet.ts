import { setTimeout as sleep } from 'node:timers/promises';
import { type Databases, rowsOf } from './databases.ts';
import { eventTypesHandledBy } from './effects.ts';

interface Counts {
  readonly outbox: number;
  readonly marked: number;
  readonly deadLetters: number;
  readonly appended: Readonly<Record<string, number>>;
}

const counts = `
  SELECT (SELECT count(*)::int FROM outbox) AS outbox,
         (SELECT count(*)::int FROM dead_letters) AS "deadLetters",
         (SELECT count(*)::int FROM inbox) AS marked,
         (SELECT coalesce(jsonb_object_agg(type, n), '{}')
          FROM (SELECT row->>'type' AS type, count(*) AS n FROM audit.notes WHERE relation = 'outbox' GROUP BY 1) t) AS appended`;

export interface Quiet {
  /** How many events are not published yet, or have not taken effect in a service that handles them. */
  readonly waiting: number;
  readonly deadLetters: number;
}

/** Waits until every event is published and handled by all its receivers, at most for `timeoutMs`. */
export async function untilQuiet(databases: Databases, timeoutMs: number): Promise<Quiet> {
  for (const deadline = Date.now() + timeoutMs; ; await sleep(200)) {
    const quiet = await look(databases);
    if (quiet.waiting === 0 || Date.now() > deadline) return quiet;
  }
}

async function look(databases: Databases): Promise<Quiet> {
  const read = await Promise.all(
    Object.entries(databases).map(async ([service, url]) => [service, (await rowsOf<Counts>(url, counts))[0]] as const),
  );
  let [waiting, deadLetters] = [0, 0];
  const appended = (type: string) => read.reduce((sum, [, found]) => sum + (found?.appended[type] ?? 0), 0);
  for (const [service, found] of read) {
    const due = [...eventTypesHandledBy(service)].reduce((sum, type) => sum + appended(type), 0);
    waiting += (found?.outbox ?? 0) + Math.max(0, due - (found?.marked ?? 0) - (found?.deadLetters ?? 0));
    deadLetters += found?.deadLetters ?? 0;
  }
  return { waiting, deadLetters };
}
