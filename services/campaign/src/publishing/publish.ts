import type { Principal } from '@attribution/auth';
import {
  type CampaignDetail,
  campaignPublished,
  Problem,
  placementChanged,
  publishCampaign,
} from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newEvent } from '@attribution/messaging';
import { implementWrite } from '@attribution/service';
import type { z } from 'zod';
import {
  type CampaignWithAds,
  changeCampaign,
  checkContent,
  lockAdsOf,
  lockCampaign,
  seekersOf,
  viewDetail,
} from '../campaigns/index.ts';
import { lockPlacing, type Placed, place, placingInstant } from '../placements/index.ts';
import { reachOf } from '../target/index.ts';
import { firstError, type ReachFacts, type Report, reachFacts } from '../validation/index.ts';
import type { Dependencies } from './dependencies.ts';
import { contentHash, type Snapshot, snapshotOf } from './snapshot.ts';
import { requireStep } from './states.ts';
import { endLiveVersion, findVersion, insertLiveAds, insertVersion } from './version.store.ts';

export function publishEndpoint({ database, outbox, clock, posterUrl }: Dependencies) {
  async function publish(tx: Sql, caller: Principal, id: string): Promise<z.output<typeof CampaignDetail>> {
    await lockPlacing(tx, caller.accountId, 'shared');
    const locked = await lockCampaign(tx, caller, id);
    if (!locked) throw Problem.notFound();
    requireStep('publish', locked);
    const campaign = { ...locked, ads: await lockAdsOf(tx, id) };
    const { account_id: accountId, target, ads } = campaign;
    const version = (campaign.current_version ?? 0) + 1;
    const at = placingInstant(clock.now(), campaign.placed_at);
    // What is placed is what is checked, because both are one statement. A refusal takes it back.
    const reach = reachOf(tx, accountId, target, seekersOf(ads));
    const placing = { accountId, campaignId: id, version, at, by: 'publish' } as const;
    const placed = await place(tx, placing, reach, { summary: reachFacts(caller) });
    const report = checkContent(campaign, placed, clock.now());
    requireSound(report, placed);
    const snapshot = snapshotOf(campaign);
    const content_hash = contentHash(snapshot);
    await requireNew(tx, campaign, content_hash);
    await endLiveVersion(tx, id, 'superseded', at);
    await insertVersion(tx, {
      ...{ campaign_id: id, version, account_id: accountId, published_at: at, published_by: caller.id, content_hash },
      ...{ ad_count: ads.length, screen_count: report.matched_screens, snapshot, validation: report },
    });
    await insertLiveAds(tx, id, version);
    const live = { status: 'published', current_version: version, live_version: version } as const;
    const changes = { ...live, placed_at: at, screen_count: placed.screens };
    const published = await changeCampaign(tx, campaign, changes, clock.now());
    await outbox.append(tx, ...eventsOf({ id, accountId, version, at, content_hash, snapshot, placed }));
    return viewDetail(published, report, posterUrl);
  }

  return implementWrite(publishCampaign, database.sqlTransaction, async ({ params, caller, transaction }) =>
    transaction((tx) => publish(tx, caller, params.id)),
  );
}

function requireSound(report: Report, { out_of_reach }: Pick<ReachFacts, 'out_of_reach'>): void {
  const error = firstError(report);
  if (error !== undefined) throw new Problem('unprocessable', error);
  if (out_of_reach) throw new Problem('forbidden', 'The campaign reaches screens of groups that you do not hold.');
}

async function requireNew(tx: Sql, { id, live_version }: CampaignWithAds, contentHash: string): Promise<void> {
  const last = live_version === null ? undefined : await findVersion(tx, id, live_version);
  if (last?.content_hash === contentHash)
    throw new Problem('conflict', `Nothing differs from version ${last.version}, which is live.`);
}

interface Published {
  readonly id: string;
  readonly accountId: string;
  readonly version: number;
  readonly at: Date;
  readonly content_hash: string;
  readonly snapshot: Snapshot;
  readonly placed: Placed;
}

function eventsOf({ id, accountId, version, at, content_hash, snapshot, placed: { opened, closed } }: Published) {
  const context = { accountId, occurredAt: at };
  const published = newEvent(
    campaignPublished,
    {
      ...{ campaign_id: id, account_id: accountId, version, published_at: at.toISOString(), content_hash },
      holdout_percent: snapshot.target.holdout_percent,
      campaign_ad_ids: snapshot.ads.map(({ campaign_ad_id }) => campaign_ad_id),
    },
    context,
  );
  if (opened + closed === 0) return [published];
  const changed = { campaign_id: id, version, opened, closed, at: at.toISOString() };
  return [published, newEvent(placementChanged, changed, context)];
}
