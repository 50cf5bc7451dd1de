import {
  addCampaignAd,
  type Client,
  createAd,
  createAdLibrary,
  createCampaign,
  createMediaLibrary,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { readyAsset } from '../../ready-asset.ts';
import { type Databases, rowsOf } from '../crash/check/databases.ts';

/** Creates a campaign with one ad, which can be scored, and returns its id. */
export async function newDraft(owner: Client, account: string, databases: Databases): Promise<string> {
  const media = (await owner.call(createMediaLibrary, { body: { name: 'Spring' } })).body.id;
  const ad_library_id = (await owner.call(createAdLibrary, { body: { name: 'Spring' } })).body.id;
  const media_asset_id = newId('media_asset');
  await rowsOf(databases.campaign ?? '', readyAsset(media_asset_id, account, media));
  const ad_id = (await owner.call(createAd, { body: { ad_library_id, media_asset_id } })).body.id;
  const { id } = (await owner.call(createCampaign, { body: { name: 'Spring' } })).body;
  await owner.call(addCampaignAd, { params: { id }, body: { ad_id, screen_tag: 'window' } });
  return id;
}

/** What became of the runs of a campaign, and of the tokens of its account. */
export interface Outcome {
  readonly done: number;
  readonly unfinished: number;
  readonly scores: number;
  /** Tokens that were spent, and holds that are open. */
  readonly spent: number;
  readonly open: number;
}

export async function outcomeOf(databases: Databases, account: string, campaign: string): Promise<Outcome> {
  const [runs] = await rowsOf<Pick<Outcome, 'done' | 'unfinished' | 'scores'>>(
    databases.campaign ?? '',
    `SELECT count(*) FILTER (WHERE state = 'done')::int AS done,
       count(*) FILTER (WHERE state IN ('holding', 'queued', 'scored'))::int AS unfinished,
       (SELECT count(*)::int FROM scores WHERE campaign_id = '${campaign}') AS scores
     FROM scoring_runs WHERE campaign_id = '${campaign}'`,
  );
  const [holds] = await rowsOf<Pick<Outcome, 'spent' | 'open'>>(
    databases.account ?? '',
    `SELECT coalesce(sum(captured_amount), 0)::int AS spent, count(*) FILTER (WHERE status = 'pending')::int AS open
     FROM token_holds WHERE account_id = '${account}'`,
  );
  if (!runs || !holds) throw new Error('An aggregate has one row');
  return { ...runs, ...holds };
}
