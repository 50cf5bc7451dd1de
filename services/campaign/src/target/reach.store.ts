import type { Sql } from '@attribution/database';
import { type RawBuilder, sql } from 'kysely';
import { screensOf } from '../estate/index.ts';
import { type CampaignTarget, isEmpty } from './target.ts';

/** An ad that looks for screens. */
export interface Seeker {
  readonly campaign_ad_id: string;
  readonly ad_id: string;
  readonly screen_tag: string;
}

/** A pair of a campaign ad and a screen that it reaches. */
export interface Reached {
  readonly campaign_ad_id: string;
  readonly ad_id: string;
  readonly screen_tag: string;
  readonly screen_id: string;
  readonly location_id: string;
  readonly group_id: string;
  readonly width_px: number;
  readonly height_px: number;
  readonly accepted_formats: string[];
  readonly audio: boolean;
  readonly timezone: string;
  readonly location_status: string;
  readonly installed: boolean;
}

/**
 * The query of the reach: which campaign ads play on which screens, as the target and the tags say. Nothing else says so.
 * `among` restricts it to some screens.
 */
export function reachOf(
  tx: Sql,
  accountId: string,
  { include, exclude }: Pick<CampaignTarget, 'include' | 'exclude'>,
  ads: readonly Seeker[],
  among?: readonly string[],
): RawBuilder<Reached> {
  const conditions = [isEmpty({ include }) || ads.length === 0 ? sql`FALSE` : sql`TRUE`];
  if (include.group_ids.length + include.location_ids.length > 0)
    conditions.push(sql`(${isIn('group_id', include.group_ids)} OR ${isIn('location_id', include.location_ids)})`);
  if (include.tags.length > 0) conditions.push(hasOneOf(include.tags));
  if (exclude.group_ids.length > 0) conditions.push(sql`NOT ${isIn('group_id', exclude.group_ids)}`);
  if (exclude.location_ids.length > 0) conditions.push(sql`NOT ${isIn('location_id', exclude.location_ids)}`);
  if (exclude.tags.length > 0) conditions.push(sql`NOT ${hasOneOf(exclude.tags)}`);
  if (among) conditions.push(isIn('id', among));
  const seekers = ads.map(({ campaign_ad_id, ad_id, screen_tag }) => ({ campaign_ad_id, ad_id, screen_tag }));
  return sql<Reached>`
    SELECT ad.campaign_ad_id, ad.ad_id, ad.screen_tag, screen.id AS screen_id, screen.location_id, screen.group_id,
      screen.width_px, screen.height_px, screen.accepted_formats, screen.audio,
      screen.timezone, screen.location_status, screen.installed
    FROM (${screensOf(tx, accountId).selectAll()}) AS screen
    CROSS JOIN LATERAL unnest(screen.tags) AS tag
    JOIN jsonb_to_recordset(${JSON.stringify(seekers)}::jsonb) AS ad(campaign_ad_id text, ad_id text, screen_tag text)
      ON ad.screen_tag = tag
    WHERE ${sql.join(conditions, sql` AND `)}`;
}

/** By a sub-query, which is hashed whatever the length of the list. */
const isIn = (column: 'id' | 'group_id' | 'location_id', ids: readonly string[]) =>
  sql`${sql.ref(`screen.${column}`)} IN (SELECT unnest(${ids}::text[]))`;

const hasOneOf = (tags: readonly string[]) => sql`screen.tags && ${tags}::text[]`;

/** What a statement says about a reach: queries that follow the one named `reach`, each after a comma, and columns. */
export interface ReachSummary<T> {
  readonly queries: RawBuilder<unknown>;
  readonly columns: RawBuilder<T>;
}
