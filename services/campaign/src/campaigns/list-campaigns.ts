import { listCampaigns } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { findCampaigns } from './campaign.store.ts';
import type { ListedCampaign } from './campaign.ts';
import { type PosterUrl, viewSummary } from './campaign.view.ts';

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly posterUrl: PosterUrl;
}

export const listCampaignsEndpoint = ({ database: { sql }, posterUrl }: Dependencies) =>
  implement(listCampaigns, async ({ query, caller }) => {
    const scope = cursorScope(listCampaigns.operation, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findCampaigns(sql, caller, { limit: query.limit + 1, before, statuses: query.status });
    const position = (campaign: ListedCampaign) => [campaign.id];
    const view = (campaign: ListedCampaign) => viewSummary(campaign, posterUrl);
    const { entries, next_cursor } = cutPage(found, { limit: query.limit, scope, position, view });
    return { data: entries, next_cursor };
  });
