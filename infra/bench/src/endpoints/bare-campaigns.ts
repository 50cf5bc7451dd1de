import { newId } from '@attribution/ids';
import type { Express } from 'express';
import { accountOf, append, pool, transaction } from './bare-database.ts';
import * as sql from './bare-statements.ts';

const nothing = { group_ids: [], location_ids: [], tags: [] };
const unplaced = {
  group_id: null,
  metadata: {},
  status: 'draft',
  current_version: null,
  live_version: null,
  total_ad_count: 0,
  screen_count: 0,
  estimated_locations: 0,
  scored_ad_count: 0,
  campaign_score: null,
  media_asset_id: null,
  poster_url: null,
  scored_signature: null,
};
const emptyTarget = { include: nothing, exclude: nothing, holdout_percent: 0 };

interface Ad {
  readonly id: string;
  readonly screen_tag: string;
  readonly score: number | null;
}

/** The validation of a draft with an empty target, for its ads. */
function validationOf(ads: readonly Ad[], effectiveness_score: number | null) {
  const ofAds = ads.map(({ id, screen_tag, score }) => {
    const unreached = `No screen that the target reaches has the tag ${screen_tag}.`;
    const unscored = `The ad for screens tagged ${screen_tag} has no score yet.`;
    const checks = [
      { code: 'no_screen', severity: 'warning', detail: unreached },
      ...(score === null ? [{ code: 'not_scored', severity: 'warning', detail: unscored }] : []),
    ];
    return { campaign_ad_id: id, status: 'warning', score, screen_count: 0, screen_kinds: [], checks };
  });
  const detail = 'None of its ads reaches a screen: nothing would be shown.';
  const counts = { error_count: 1, warning_count: ofAds.flatMap((ad) => ad.checks).length };
  const figures = { gates_publish: true, matched_screens: 0, matched_locations: 0 };
  const checks = [{ code: 'no_placement', severity: 'error', detail }];
  return { status: 'error', ...counts, ...figures, checks, ads: ofAds, effectiveness_score };
}

/** Campaign's endpoints. */
export function addCampaigns(app: Express): void {
  app.get('/v2/campaigns', async (req, res) => {
    const limit = Number(req.query.limit);
    const { rows } = await pool.query({ ...sql.listCampaigns, values: [accountOf(req), limit + 1] });
    res.json({ data: rows.slice(0, limit), next_cursor: rows.length > limit ? rows[limit - 1].id : null });
  });

  app.get('/v2/campaigns/:id', async (req, res) => {
    const { rows } = await pool.query({ ...sql.getCampaign, values: [accountOf(req), req.params.id] });
    const [campaign] = rows;
    if (!campaign) return void res.sendStatus(404);
    const { rows: ads } = await pool.query({ ...sql.listAds, values: [campaign.id] });
    res.json({ ...campaign, ads, latest_validation: validationOf(ads, campaign.campaign_score) });
  });

  app.post('/v2/campaigns', async (req, res) => {
    const account = String(accountOf(req));
    const { name, description = null, brief, start_date = null, end_date = null, priority = 0 } = req.body;
    const now = new Date().toISOString();
    const id = newId('campaign');
    const author = newId('user');
    await transaction(async (client) => {
      const texts = { brief: JSON.stringify(brief), target: JSON.stringify(emptyTarget) };
      const dates = [start_date, end_date];
      const values = [id, account, author, name, description, texts.brief, ...dates, priority, texts.target, now];
      await client.query({ ...sql.insertCampaign, values });
      const data = { campaign_id: id, account_id: account, group_id: null, name, created_by: author };
      await append(client, { topic: 'campaign.events', type: 'campaign.created', account, now, data });
    });
    const given = { name, description, brief, start_date, end_date, priority };
    res.status(201).json({ id, account_id: account, ...given, ...unplaced, created_at: now, updated_at: now });
  });

  app.patch('/v2/campaigns/:id', async (req, res) => {
    const changed = await transaction(async (client) => {
      const { rows } = await client.query({ ...sql.lockCampaign, values: [accountOf(req), req.params.id] });
      const [{ target: _, ...before }] = rows;
      if (before.status !== 'draft') throw new Error('Only a draft can be changed');
      const after = { ...before, ...req.body, brief: { ...before.brief, ...req.body.brief }, updated_at: new Date() };
      const { id, name, description, start_date, end_date, priority, updated_at } = after;
      const texts = { brief: JSON.stringify(after.brief), metadata: JSON.stringify(after.metadata) };
      const values = [id, name, description, texts.brief, start_date, end_date, priority, texts.metadata, updated_at];
      await client.query({ ...sql.updateCampaign, values });
      return after;
    });
    res.json(changed);
  });
}
