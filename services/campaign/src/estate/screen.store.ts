import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';

/**
 * The screens that an account has, each with its place, its kind and whether it is `installed` (in a live installation):
 * a query to narrow further. A screen whose location is not known yet is left out until it is.
 */
export const screensOf = (tx: Sql, accountId: string) =>
  db(tx).selectFrom(
    db(tx)
      .selectFrom('known_screens as screen')
      .innerJoin('known_locations as location', 'location.id', 'screen.location_id')
      .where('screen.account_id', '=', accountId)
      .select(['screen.id', 'screen.account_id', 'screen.location_id', 'screen.zone_id', 'screen.name', 'screen.tags'])
      .select(['screen.width_px', 'screen.height_px', 'screen.accepted_formats', 'screen.audio'])
      .select(['location.group_id', 'location.name as location_name', 'location.timezone'])
      .select('location.status as location_status')
      .select(
        sql<boolean>`screen.id IN (SELECT unnest(screen_ids) FROM known_installations
          WHERE account_id = ${accountId} AND live)`.as('installed'),
      )
      .as('screens'),
  );
