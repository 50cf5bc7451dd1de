import { campaignCreated, createCampaign, newId } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { insertCampaign } from './campaign.store.ts';
import { defaultGroupId, emptyTarget, requireDateOrder } from './campaign.ts';
import { viewCampaign } from './campaign.view.ts';
import { requireGroup } from './group-choice.ts';

export const createCampaignEndpoint = (parts: { database: CampaignDatabase; outbox: Outbox; clock: Clock }) =>
  implement(createCampaign, async ({ body, caller, request }) => {
    const { accountId, id: createdBy } = caller;
    requireDateOrder(body, body);
    const now = parts.clock.now();
    const fields = { ...body, group_id: body.group_id === undefined ? defaultGroupId(caller) : body.group_id };
    return parts.database.transaction(async (tx) => {
      if (body.group_id) await requireGroup(tx, caller, body.group_id);
      const row = await insertCampaign(tx, {
        id: newId('campaign'),
        accountId,
        createdBy,
        fields,
        target: emptyTarget,
        now,
      });
      const data = {
        campaign_id: row.id,
        account_id: accountId,
        group_id: row.group_id,
        name: row.name,
        created_by: createdBy,
      };
      await parts.outbox.append(
        tx,
        newEvent(campaignCreated, data, { accountId, occurredAt: now, traceparent: request.traceparent }),
      );
      return viewCampaign(row);
    });
  });
