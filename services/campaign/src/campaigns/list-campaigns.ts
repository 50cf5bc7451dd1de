import { listCampaigns } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { findCampaigns } from './campaign.store.ts';
import { viewSummary } from './campaign.view.ts';

export const listCampaignsEndpoint = ({ sql }: CampaignDatabase) =>
  implement(listCampaigns, async ({ query, caller }) => {
    const scope = cursorScope(listCampaigns.operation, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findCampaigns(sql, caller, { limit: query.limit + 1, before, statuses: query.status });
    const page = cutPage(found, { limit: query.limit, scope, position: (campaign) => [campaign.id] });
    return { data: page.rows.map(viewSummary), next_cursor: page.next_cursor };
  });
