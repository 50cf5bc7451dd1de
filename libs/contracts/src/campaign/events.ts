import { z } from 'zod';
import { event } from '../event.ts';
import { topic } from '../topic.ts';
import { Count, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

export const campaignEvents = topic({ name: 'campaign.events', owner: 'campaign', partitions: 6 });

const byCampaign = { topic: campaignEvents, version: 1, key: (data: { campaign_id: string }) => data.campaign_id };
const version = z.int().min(1);

export const campaignCreated = event({
  type: 'campaign.created',
  ...byCampaign,
  data: z.object({
    campaign_id: id('campaign'),
    account_id: id('account'),
    group_id: id('group').nullable(),
    name: z.string(),
    created_by: z.string(),
  }),
});

/** A version that was published once, whatever has become of it. */
export const PublishedVersion = z.object({
  campaign_id: id('campaign'),
  account_id: id('account'),
  version,
  published_at: Timestamp,
  holdout_percent: Count,
  campaign_ad_ids: z.array(id('campaign_ad')),
});

export const campaignPublished = event({
  type: 'campaign.published',
  ...byCampaign,
  data: PublishedVersion.extend({ content_hash: z.string() }),
});

/** `version`: the one that stays live. */
export const campaignRevised = event({
  type: 'campaign.revised',
  ...byCampaign,
  data: z.object({ campaign_id: id('campaign'), account_id: id('account'), version }),
});

/** `version`: the last one; null if there was none. */
export const campaignArchived = event({
  type: 'campaign.archived',
  ...byCampaign,
  data: z.object({ campaign_id: id('campaign'), account_id: id('account'), version: version.nullable() }),
});

const scored = z.object({ campaign_id: id('campaign'), job_id: id('job'), hold_id: id('token_hold').nullable() });

/** All ads of a campaign have their scores, and their tokens are spent. */
export const scoreCompleted = event({ type: 'score.completed', ...byCampaign, data: scored });

/** Nothing was spent. */
export const scoreFailed = event({ type: 'score.failed', ...byCampaign, data: scored });

/** `version` is the one that was live, and `at` the instant at which so many placements were opened and closed. */
export const placementChanged = event({
  type: 'placement.changed',
  ...byCampaign,
  data: z.object({ campaign_id: id('campaign'), version, opened: Count, closed: Count, at: Timestamp }),
});
