import { type Client, listPublishedVersions } from '@attribution/contracts';
import { answerOf } from '../asked.ts';
import type { EventsDatabase } from '../store.ts';
import { insertVersions } from './version.store.ts';

/** Ads in one question. */
const mostAds = 200;

/** Learns from Campaign of every version with these ads, whatever its events are up to. */
export type AskVersions = (accountId: string, adIds: readonly string[]) => Promise<void>;

/** Throws `unavailable` where Campaign does not answer. */
export const createAskVersions = (database: EventsDatabase, campaign: Client): AskVersions => {
  const ask = async (account_id: string, ads: readonly string[], cursor: string | null) => {
    const query = { account_id, campaign_ad_ids: ads.join(','), limit: 200, cursor: cursor ?? undefined };
    return (await answerOf(campaign.call(listPublishedVersions, { query }))).body;
  };
  return async (accountId, adIds) => {
    for (let from = 0; from < adIds.length; from += mostAds)
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await ask(accountId, adIds.slice(from, from + mostAds), cursor ?? null);
        await database.sqlTransaction((tx) => insertVersions(tx, page.entries));
        cursor = page.next_cursor;
      }
  };
};
