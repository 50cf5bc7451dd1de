import { listPublishedVersions, type Output } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { findPublished, type PublishedRow } from './published.store.ts';

const view = (row: PublishedRow): Output<typeof listPublishedVersions>['entries'][number] => ({
  ...row,
  published_at: row.published_at.toISOString(),
});

export const listPublishedEndpoint = ({ sql }: CampaignDatabase) =>
  implement(listPublishedVersions, async ({ query }) => {
    const scope = cursorScope(listPublishedVersions.operation, query);
    const after = readCursor(query.cursor, scope, ['string', 'integer']);
    const { limit, account_id: accountId, campaign_ad_ids: adIds } = query;
    const found = await findPublished(sql, { after, limit: limit + 1, accountId, adIds });
    return cutPage(found, { limit, scope, position: ({ campaign_id, version }) => [campaign_id, version], view });
  });
