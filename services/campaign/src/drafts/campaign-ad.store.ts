import type { Principal } from '@attribution/auth';
import type { Sql } from '@attribution/database';
import type { Insertable } from 'kysely';
import { lockAd } from '../ads/index.ts';
import type { CampaignAd } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

/** Whether the caller sees the ad, which from then on is not deleted until the commit. */
export const useAd = async (tx: Sql, caller: Principal, id: string): Promise<boolean> =>
  (await lockAd(tx, caller, id, 'use')) !== undefined;

export async function insertCampaignAd(tx: Sql, row: Insertable<CampaignAd>): Promise<void> {
  await db(tx).insertInto('campaign_ads').values(row).execute();
}

export async function replacePlace(
  tx: Sql,
  id: string,
  place: Pick<Insertable<CampaignAd>, 'screen_tag' | 'position' | 'score'>,
): Promise<void> {
  await db(tx).updateTable('campaign_ads').set(place).where('id', '=', id).execute();
}

export async function deleteCampaignAd(tx: Sql, id: string): Promise<void> {
  await db(tx).deleteFrom('campaign_ads').where('id', '=', id).execute();
}

export async function touchCampaign(tx: Sql, id: string, now: Date): Promise<void> {
  await db(tx).updateTable('campaigns').set({ updated_at: now }).where('id', '=', id).execute();
}
