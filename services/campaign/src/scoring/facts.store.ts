import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { type CampaignWithAds, seekersOf } from '../campaigns/index.ts';
import { db } from '../store.ts';
import { reachOf } from '../target/index.ts';
import type { ReachedKind, ScoredAdFacts, ScoringFacts } from './facts.ts';

/** Freezes what is scored of a campaign: its ads, their files and looks, and the screens that they reach. */
export async function readFacts(tx: Sql, campaign: CampaignWithAds): Promise<ScoringFacts> {
  const { ads, brief, target, account_id } = campaign;
  const { rows: kinds } = await sql<ReachedKind & { campaign_ad_id: string }>`
    SELECT campaign_ad_id, width_px, height_px, count(*)::int AS count
    FROM (${reachOf(tx, account_id, target, seekersOf(ads))}) AS reach
    GROUP BY campaign_ad_id, width_px, height_px ORDER BY campaign_ad_id, width_px, height_px`.execute(db(tx));
  const looks = await db(tx)
    .selectFrom('analyses')
    .where(
      'media_asset_id',
      'in',
      ads.map(({ media_asset_id }) => media_asset_id),
    )
    .select(['media_asset_id', 'look'])
    .execute();
  const lookOf = new Map(looks.map(({ media_asset_id, look }) => [media_asset_id, look]));
  const kindsOf = Map.groupBy(kinds, ({ campaign_ad_id }) => campaign_ad_id);
  return {
    ...{ product: brief.product ?? null, objective: brief.objective ?? null, outcome: brief.outcome ?? null },
    ads: ads.map((ad): ScoredAdFacts => {
      const { probe, sha256 } = ad;
      if (probe === null || sha256 === null) throw new Error(`The asset of ${ad.id} was ready when its ad was made`);
      const look = lookOf.get(ad.media_asset_id) ?? null;
      return {
        ...{ campaign_ad_id: ad.id, ad_id: ad.ad_id, sha256, duration_ms: ad.duration_ms, fit: ad.fit },
        ...{ screen_tag: ad.screen_tag, width: probe.width, height: probe.height },
        look: look && {
          ...{ contrast: look.contrast, sharpness: look.sharpness },
          ...{ colour: look.colour, text_density: look.text_density },
        },
        kinds: (kindsOf.get(ad.id) ?? []).map(({ width_px, height_px, count }) => ({ width_px, height_px, count })),
      };
    }),
  };
}
