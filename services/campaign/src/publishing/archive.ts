import { archiveCampaign, campaignArchived, Problem, placementChanged } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import { implementWrite } from '@attribution/service';
import { changeCampaign, lockCampaign, reportCampaign, viewDetail } from '../campaigns/index.ts';
import { closeAll, lockPlacing, placingInstant } from '../placements/index.ts';
import type { Dependencies } from './dependencies.ts';
import { requireStep } from './states.ts';
import { endLiveVersion } from './version.store.ts';

export const archiveEndpoint = ({ database, outbox, clock, posterUrl }: Dependencies) =>
  implementWrite(archiveCampaign, database.sqlTransaction, async ({ params, caller, transaction }) =>
    transaction(async (tx) => {
      await lockPlacing(tx, caller.accountId, 'shared');
      const campaign = await lockCampaign(tx, caller, params.id);
      if (!campaign) throw Problem.notFound();
      requireStep('archive', campaign);
      const { id, account_id, current_version, live_version } = campaign;
      const at = placingInstant(clock.now(), campaign.placed_at);
      await endLiveVersion(tx, id, 'closed', at);
      const closed = await closeAll(tx, id, at);
      const changes = { status: 'archived', live_version: null, placed_at: at, screen_count: 0 } as const;
      const archived = await changeCampaign(tx, campaign, changes, clock.now());
      const context = { accountId: account_id, occurredAt: at };
      const events = [newEvent(campaignArchived, { campaign_id: id, account_id, version: current_version }, context)];
      if (live_version !== null && closed > 0) {
        const changed = { campaign_id: id, version: live_version, opened: 0, closed, at: at.toISOString() };
        events.push(newEvent(placementChanged, changed, context));
      }
      await outbox.append(tx, ...events);
      return viewDetail(archived, await reportCampaign(tx, caller, archived, clock.now()), posterUrl);
    }),
  );
