import { anyOf, type Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import { type Selectable, sql } from 'kysely';
import type { Score } from '../generated/kysely/types.ts';
import { db } from '../store.ts';
import type { RunRow } from './run.store.ts';
import type { ScoredAd, Scorer } from './scorer.ts';

export type ScoreRow = Selectable<Score>;

/** Writes the scores of a run, and shows them at the campaign's ads that have kept their screen tag. */
export async function insertScores(
  tx: Sql,
  run: RunRow,
  scored: readonly ScoredAd[],
  { model, heuristic }: Pick<Scorer, 'model' | 'heuristic'>,
  now: Date,
): Promise<void> {
  const { account_id, campaign_id, signature, facts } = run;
  const adOf = new Map(facts.ads.map((ad) => [ad.campaign_ad_id, ad]));
  const rows = scored.map(({ campaign_ad_id, score, components }) => ({
    ...{ id: newId('score'), account_id, campaign_id, campaign_ad_id, ad_id: adOf.get(campaign_ad_id)?.ad_id ?? '' },
    ...{ job_id: run.job_id ?? '', model, heuristic, signature, score, created_at: now },
    components: JSON.stringify(components) as never,
  }));
  await db(tx).insertInto('scores').values(rows).execute();
  const shown = scored.map(({ campaign_ad_id, score }) => ({
    campaign_ad_id,
    score,
    screen_tag: adOf.get(campaign_ad_id)?.screen_tag,
  }));
  await sql`
    UPDATE campaign_ads SET score = scored.score
    FROM jsonb_to_recordset(${JSON.stringify(shown)}::jsonb)
      AS scored (campaign_ad_id text, score double precision, screen_tag text)
    WHERE campaign_ads.id = scored.campaign_ad_id AND campaign_ads.campaign_id = ${campaign_id}
      AND campaign_ads.screen_tag = scored.screen_tag`.execute(db(tx));
  await db(tx).updateTable('campaigns').set({ scored_signature: signature }).where('id', '=', campaign_id).execute();
}

/** Newest first. */
export async function findScores(
  tx: Sql,
  campaignId: string,
  page: { readonly limit: number; readonly before: string | undefined; readonly ads: readonly string[] | undefined },
): Promise<ScoreRow[]> {
  let scores = db(tx).selectFrom('scores').where('campaign_id', '=', campaignId);
  if (page.before !== undefined) scores = scores.where('id', '<', page.before);
  if (page.ads !== undefined) scores = scores.where('campaign_ad_id', '=', anyOf(page.ads));
  return scores.selectAll().orderBy('id', 'desc').limit(page.limit).execute();
}
