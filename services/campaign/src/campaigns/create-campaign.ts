import { campaignCreated, createCampaign } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { insertCampaign } from './campaign.store.ts';
import { defaultGroupId, newDraft, requireDateOrder } from './campaign.ts';
import { viewCampaign } from './campaign.view.ts';
import { requireGroup } from './group-choice.ts';

export const createCampaignEndpoint = (parts: { database: CampaignDatabase; outbox: Outbox; clock: Clock }) =>
  implement(createCampaign, async ({ body, caller, request }) => {
    requireDateOrder(body, body);
    const now = parts.clock.now();
    const fields = { ...body, group_id: body.group_id === undefined ? defaultGroupId(caller) : body.group_id };
    const row = newDraft(newId('campaign'), caller, fields, now);
    const { account_id, group_id, name, created_by } = row;
    return parts.database.sqlTransaction(async (tx) => {
      if (body.group_id) await requireGroup(tx, caller, body.group_id);
      await insertCampaign(tx, row);
      const data = { campaign_id: row.id, account_id, group_id, name, created_by };
      const context = { accountId: account_id, occurredAt: now, traceparent: request.traceparent };
      await parts.outbox.append(tx, newEvent(campaignCreated, data, context));
      return viewCampaign(row);
    });
  });
