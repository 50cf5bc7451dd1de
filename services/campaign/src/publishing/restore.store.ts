import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';

/**
 * Gives a campaign the ads of its live version again, with their ids. An ad that has kept its tag keeps its score; the
 * score of one that was removed is gone with it.
 */
export async function restoreAds(tx: Sql, campaignId: string): Promise<void> {
  await sql`DELETE FROM campaign_ads WHERE campaign_id = ${campaignId}
    AND id NOT IN (SELECT campaign_ad_id FROM live_ads WHERE campaign_id = ${campaignId})`.execute(db(tx));
  // Two of them may have swapped their tags, and the unique index looks at each row at once.
  await sql`DELETE FROM campaign_ads USING live_ads
    WHERE live_ads.campaign_ad_id = campaign_ads.id AND live_ads.campaign_id = ${campaignId}
      AND live_ads.screen_tag <> campaign_ads.screen_tag`.execute(db(tx));
  await sql`
    INSERT INTO campaign_ads (id, campaign_id, ad_id, screen_tag, position, created_at)
    SELECT campaign_ad_id, campaign_id, ad_id, screen_tag, position, created_at FROM live_ads
    WHERE campaign_id = ${campaignId}
    ON CONFLICT (id) DO UPDATE SET position = excluded.position`.execute(db(tx));
}

/** The asset's id if there still is such an asset, which then is not deleted until the commit; else null. */
export async function stillThere(tx: Sql, id: string | null): Promise<string | null> {
  if (id === null) return null;
  const asset = db(tx).selectFrom('media_assets').where('id', '=', id).select('id').forKeyShare();
  return (await asset.executeTakeFirst())?.id ?? null;
}
