import { type Principal, visibleGroupIds } from '@attribution/auth';
import { anyOf, type Sql } from '@attribution/database';
import { type Selectable, sql } from 'kysely';
import type { Placement } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

export type PlacementRow = Selectable<Placement>;

interface Filters {
  readonly status?: readonly ('live' | 'closed')[] | undefined;
  readonly screen_ids?: readonly string[] | undefined;
  readonly location_ids?: readonly string[] | undefined;
  readonly campaign_ad_ids?: readonly string[] | undefined;
  readonly at?: string | undefined;
}

/** By screen, campaign ad and begin. A narrowed caller sees those of its groups. */
export function findPlacements(
  tx: Sql,
  caller: Principal,
  campaignId: string,
  page: Filters & { readonly limit: number; readonly after: readonly [string, string, number] | undefined },
): Promise<PlacementRow[]> {
  let placements = db(tx).selectFrom('placements').where('campaign_id', '=', campaignId);
  const groups = visibleGroupIds(caller);
  if (groups) placements = placements.where('group_id', '=', anyOf(groups));
  const [only, ...others] = new Set(page.status);
  if (only && others.length === 0) placements = placements.where('valid_to', only === 'live' ? 'is' : 'is not', null);
  if (page.screen_ids) placements = placements.where('screen_id', '=', anyOf(page.screen_ids));
  if (page.location_ids) placements = placements.where('location_id', '=', anyOf(page.location_ids));
  if (page.campaign_ad_ids) placements = placements.where('campaign_ad_id', '=', anyOf(page.campaign_ad_ids));
  if (page.at !== undefined) {
    const at = sql<Date>`${page.at}::timestamptz`;
    placements = placements
      .where('valid_from', '<=', at)
      .where(({ eb, or }) => or([eb('valid_to', 'is', null), eb('valid_to', '>', at)]));
  }
  if (page.after) {
    const [screen, campaignAd, from] = page.after;
    placements = placements.where(
      sql<boolean>`(screen_id, campaign_ad_id, valid_from) > (${screen}, ${campaignAd}, ${new Date(from)})`,
    );
  }
  const sorted = placements.orderBy('screen_id').orderBy('campaign_ad_id').orderBy('valid_from');
  return sorted.selectAll().limit(page.limit).execute();
}
