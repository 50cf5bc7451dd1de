import { type Principal, visibleGroupIds } from '@attribution/auth';
import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';
import { type CampaignTarget, isEmpty, type ReachSummary, reachOf, type Seeker } from '../target/index.ts';
import type { ScreenKindFacts } from './facts.ts';

export interface ReachFacts {
  /** Of the screens that the caller sees, for each campaign ad that reaches some. */
  readonly kinds: readonly (ScreenKindFacts & { readonly campaign_ad_id: string })[];
  /** Campaign ads that reach a screen, whether the caller sees it or not. */
  readonly reaching: readonly string[];
  readonly matched_screens: number;
  readonly matched_locations: number;
  readonly timezones: readonly string[];
  readonly out_of_reach: boolean;
}

const nothing: ReachFacts = {
  ...{ kinds: [], reaching: [], matched_screens: 0, matched_locations: 0, timezones: [] },
  out_of_reach: false,
};

/** The facts of a reach, in the caller's eyes. */
export function reachFacts(caller: Principal): ReachSummary<ReachFacts> {
  const groups = visibleGroupIds(caller);
  const seen = groups === null ? sql`TRUE` : sql`group_id IN (SELECT unnest(${groups}::text[]))`;
  return {
    queries: sql`,
    visible AS (SELECT * FROM reach WHERE ${seen}),
    kinds AS (
      SELECT campaign_ad_id, width_px, height_px, accepted_formats, audio, count(*) AS screen_count,
        count(*) FILTER (WHERE NOT installed) AS not_installed,
        count(*) FILTER (WHERE location_status <> 'active') AS inactive
      FROM visible GROUP BY campaign_ad_id, width_px, height_px, accepted_formats, audio)`,
    columns: sql<ReachFacts>`
      (SELECT coalesce(json_agg(kinds), '[]') FROM kinds) AS kinds,
      ARRAY(SELECT DISTINCT campaign_ad_id FROM reach) AS reaching,
      (SELECT count(DISTINCT screen_id) FROM visible)::int AS matched_screens,
      (SELECT count(DISTINCT location_id) FROM visible)::int AS matched_locations,
      ARRAY(SELECT DISTINCT timezone FROM visible) AS timezones,
      EXISTS (SELECT FROM reach WHERE NOT ${seen}) AS out_of_reach`,
  };
}

/** What the ads reach, in the caller's eyes, by one statement at most. */
export async function findReach(
  tx: Sql,
  caller: Principal,
  target: CampaignTarget,
  ads: readonly Seeker[],
): Promise<ReachFacts> {
  if (isEmpty(target) || ads.length === 0) return nothing;
  const { queries, columns } = reachFacts(caller);
  const { rows } = await sql<ReachFacts>`
    WITH reach AS MATERIALIZED (${reachOf(tx, caller.accountId, target, ads)})${queries}
    SELECT ${columns}`.execute(db(tx));
  const [facts] = rows;
  if (!facts) throw new Error('The query of the reach always returns one row');
  return facts;
}
