import { type RawBuilder, sql } from 'kysely';
import type { Scope } from './scope.ts';

/**
 * How long what another service has changed may be on its way, as an event: a location that was moved or deleted. What came
 * here itself is marked.
 */
const underWay = sql.lit('3 s');

/**
 * The locations of a scope, as common table expressions to begin a statement with: `scope` has their ids; `behind` has one
 * row with `as_of`, before which everything is in the figures. A statement sees one moment, so both belong together.
 */
export const scopeTables = (
  { accountId, visibleGroups, locationIds, groupIds }: Scope,
  now: Date,
): RawBuilder<unknown> => sql`
  scope AS MATERIALIZED (
    SELECT id FROM known_locations WHERE account_id = ${accountId}
      AND (${visibleGroups}::text[] IS NULL OR NOT gone AND group_id = ANY(${visibleGroups}::text[]))
      AND (${locationIds}::text[] IS NULL OR id = ANY(${locationIds}::text[]))
      AND (${groupIds}::text[] IS NULL OR group_id = ANY(${groupIds}::text[]))
  ), behind AS MATERIALIZED (
    SELECT least(${now}::timestamptz - ${underWay}::interval, min(marked_at)) AS as_of FROM dirty_hours
    WHERE account_id = ${accountId} AND marked_at IS NOT NULL AND location_id IN (SELECT id FROM scope)
  )`;

/** Whether a local day is in the range of the scope. */
export const inRange = (column: RawBuilder<unknown>, { from, to }: Scope): RawBuilder<boolean> => sql<boolean>`
  (${from}::date IS NULL OR ${column} >= ${from}::date) AND (${to}::date IS NULL OR ${column} <= ${to}::date)`;
