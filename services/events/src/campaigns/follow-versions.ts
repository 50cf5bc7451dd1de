import { campaignPublished, listPublishedVersions } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import { onBatch } from '@attribution/messaging';
import { follow } from '@attribution/service';
import { insertVersions } from './version.store.ts';

const published = onBatch(campaignPublished, (tx: SqlTransaction, events) =>
  insertVersions(
    tx,
    events.map(({ data }) => data),
  ),
);
/** What each version of a campaign was: its ads and the share of hours that it held back. */
export const followVersions = follow({
  from: 'campaign',
  tables: { known_versions: { handlers: [published] }, known_campaign_ads: { handlers: [] } },
  pages: async (campaign, cursor) => {
    const query = { limit: 200, cursor: cursor ?? undefined };
    return (await campaign.call(listPublishedVersions, { query })).body;
  },
  apply: ({ entries }) => [(tx) => insertVersions(tx, entries)],
});
