import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../scope/index.ts';

/**
 * The first visit ever in the locations of the scope of each visitor in `chosen`, as a common table expression after
 * `scopeTables`: `firsts` with `visitor_key` and the local `date`.
 */
export const firstVisits = ({ accountId }: Scope): RawBuilder<unknown> => sql`
  firsts AS (
    SELECT DISTINCT ON (visitor_key) visitor_key, date FROM visit_facts
    WHERE account_id = ${accountId} AND location_id IN (SELECT id FROM scope)
      AND visitor_key IN (SELECT visitor_key FROM chosen)
    ORDER BY visitor_key, entered_at, event_id
  )`;

/** How many of `firsts` are not before the range; all, if it has no beginning. */
export const newVisitors = ({ from }: Scope): RawBuilder<number> => sql<number>`
  (SELECT count(*) FROM firsts WHERE ${from}::date IS NULL OR date >= ${from}::date)::float8`;
