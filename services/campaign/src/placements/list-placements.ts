import { listCampaignPlacements, type Placement, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import { seesCampaign } from '../campaigns/index.ts';
import type { CampaignDatabase } from '../store.ts';
import { findPlacements, type PlacementRow } from './placement.store.ts';

export const listPlacementsEndpoint = ({ sql }: CampaignDatabase) =>
  implement(listCampaignPlacements, async ({ params, query, caller }) => {
    const scope = cursorScope(`${listCampaignPlacements.operation} ${params.id}`, query);
    const after = readCursor(query.cursor, scope, ['string', 'string', 'time']);
    if (!(await seesCampaign(sql, caller, params.id))) throw Problem.notFound();
    const found = await findPlacements(sql, caller, params.id, { ...query, limit: query.limit + 1, after });
    const position = (row: PlacementRow) => [row.screen_id, row.campaign_ad_id, row.valid_from.getTime()];
    return cutPage(found, { limit: query.limit, scope, position, view });
  });

const view = (row: PlacementRow): z.output<typeof Placement> => ({
  campaign_id: row.campaign_id,
  campaign_ad_id: row.campaign_ad_id,
  ad_id: row.ad_id,
  screen_id: row.screen_id,
  location_id: row.location_id,
  screen_tag: row.screen_tag,
  version: row.version,
  status: row.valid_to === null ? 'live' : 'closed',
  valid_from: row.valid_from.toISOString(),
  valid_to: row.valid_to?.toISOString() ?? null,
  closed_by: row.closed_by,
});
