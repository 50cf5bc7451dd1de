import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { countCampaigns, lockRoom } from './campaign.store.ts';

/** Campaigns that an account may have, archived ones among them. */
const mostCampaigns = 10_000;

/** Closer to the limit than this, creations wait for each other: fewer than so many run at the same time. */
const margin = 500;

/** Throws `unprocessable` if the account has too many campaigns. Called when it is inserted, before events are appended. */
export async function requireRoom(tx: Sql, accountId: string): Promise<void> {
  const count = () => countCampaigns(tx, accountId, mostCampaigns + 1);
  if ((await count()) <= mostCampaigns - margin) return;
  await lockRoom(tx, accountId);
  if ((await count()) > mostCampaigns)
    throw new Problem('unprocessable', `An account has at most ${mostCampaigns} campaigns.`);
}
