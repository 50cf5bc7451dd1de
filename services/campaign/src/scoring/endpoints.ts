import { listCampaignScores, Problem, scoreCampaign } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import { seesCampaign } from '../campaigns/index.ts';
import { beginRun, engageRun } from './begin.ts';
import type { ScoringDependencies } from './dependencies.ts';
import { findScores, type ScoreRow } from './score.store.ts';

export const scoreCampaignEndpoint = (deps: ScoringDependencies) =>
  implement(scoreCampaign, async ({ params, caller, attempt }) =>
    engageRun(deps, await beginRun(deps, caller, params.id, attempt)),
  );

export const listScoresEndpoint = ({ database: { sql } }: Pick<ScoringDependencies, 'database'>) =>
  implement(listCampaignScores, async ({ params, query, caller }) => {
    if (!(await seesCampaign(sql, caller, params.id))) throw Problem.notFound();
    const scope = cursorScope(`${listCampaignScores.operation} ${params.id}`, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const page = { limit: query.limit + 1, before, ads: query.campaign_ad_ids };
    const found = await findScores(sql, params.id, page);
    return cutPage(found, { limit: query.limit, scope, position: (row) => [row.id], view: viewScore });
  });

const viewScore = ({ account_id: _, created_at, ...score }: ScoreRow) => ({
  ...score,
  created_at: created_at.toISOString(),
});
