import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { among } from '../organization/common.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { Score, ScoringStarted } from './scores.resources.ts';

const service = 'campaign';
const access = { credential: 'any' } as const;
const campaignId = z.object({ id: id('campaign') });

export const listCampaignScores = endpoint({
  operation: 'list_campaign_scores',
  method: 'GET',
  path: '/v2/campaigns/{id}/scores',
  service,
  summary: "The scores of a campaign's ads",
  access,
  params: campaignId,
  query: z.object({ ...pageQuery, campaign_ad_ids: among('campaign_ad', 'of these campaign ads') }),
  success: { status: 200, description: 'A page of scores, newest first', body: Page(Score) },
});

export const scoreCampaign = endpoint({
  operation: 'score_campaign',
  method: 'POST',
  path: '/v2/campaigns/{id}/scores',
  service,
  summary: "Score a campaign's ads",
  description:
    'It costs the usage price `score_ad` for each campaign ad. The tokens are held now and spent when all scores are there; a run that fails costs nothing. 422: there are no ads. 409: a run is not over yet, or nothing has changed since the last one.',
  access,
  params: campaignId,
  idempotent: true,
  external: true,
  success: { status: 202, description: 'The job', body: ScoringStarted },
  problems: ['insufficient-balance', 'conflict', 'unprocessable'],
});
