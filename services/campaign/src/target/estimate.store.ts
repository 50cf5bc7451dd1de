import { type RawBuilder, sql } from 'kysely';

/**
 * The locations that the include-set of a row's `target` comes to, in a query of `campaigns`: those of the listed groups
 * and locations, or of the account, that have a screen with one of the listed tags. What is excluded does not count.
 */
export const estimatedLocations: RawBuilder<number> = sql<number>`
  CASE WHEN campaigns.target -> 'include' = '{"group_ids":[],"location_ids":[],"tags":[]}' THEN 0 ELSE (
    SELECT count(*)::int FROM known_locations AS location
    WHERE location.account_id = campaigns.account_id
      AND (campaigns.target #> '{include,group_ids}' = '[]' AND campaigns.target #> '{include,location_ids}' = '[]'
        OR location.group_id IN (SELECT jsonb_array_elements_text(campaigns.target #> '{include,group_ids}'))
        OR location.id IN (SELECT jsonb_array_elements_text(campaigns.target #> '{include,location_ids}')))
      AND (campaigns.target #> '{include,tags}' = '[]' OR EXISTS (
        SELECT FROM known_screens AS screen
        WHERE screen.location_id = location.id AND screen.account_id = campaigns.account_id
          AND screen.tags && ARRAY(SELECT jsonb_array_elements_text(campaigns.target #> '{include,tags}'))))) END`;
