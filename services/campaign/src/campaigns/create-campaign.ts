import { campaignCreated, createCampaign } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implementWrite } from '@attribution/service';
import { defaultGroupId, requireGroup } from '../groups/index.ts';
import type { CampaignDatabase } from '../store.ts';
import { insertCampaign } from './campaign.store.ts';
import { newDraft, requireDateOrder, requireSmallJson } from './campaign.ts';
import { type PosterUrl, viewCampaign } from './campaign.view.ts';
import { requireRoom } from './room.ts';

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly posterUrl: PosterUrl;
}

export const createCampaignEndpoint = ({ database, outbox, clock, posterUrl }: Dependencies) =>
  implementWrite(createCampaign, database.sqlTransaction, async ({ body, caller, request, transaction }) => {
    requireDateOrder(body, body);
    requireSmallJson(body);
    const now = clock.now();
    const fields = { ...body, group_id: body.group_id === undefined ? defaultGroupId(caller) : body.group_id };
    const row = newDraft(newId('campaign'), caller, fields, now);
    const { account_id, group_id, name, created_by } = row;
    return transaction(async (tx) => {
      if (body.group_id) await requireGroup(tx, caller, body.group_id);
      await insertCampaign(tx, row);
      await requireRoom(tx, account_id);
      const data = { campaign_id: row.id, account_id, group_id, name, created_by };
      const context = { accountId: account_id, occurredAt: now, traceparent: request.traceparent };
      await outbox.append(tx, newEvent(campaignCreated, data, context));
      return viewCampaign(row, posterUrl);
    });
  });
