import { type CampaignChange, Problem, updateCampaign } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { changedFields, implementWrite } from '@attribution/service';
import type { z } from 'zod';
import { useAsset } from '../ads/index.ts';
import { requireGroup } from '../groups/index.ts';
import type { CampaignDatabase } from '../store.ts';
import { changeCampaign, lockCampaign } from './campaign.store.ts';
import { type CampaignFields, requireDateOrder, requireDraft, requireSmallJson } from './campaign.ts';
import { fieldsOf, type PosterUrl, viewCampaign } from './campaign.view.ts';

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly clock: Clock;
  readonly posterUrl: PosterUrl;
}

export const updateCampaignEndpoint = ({ database, clock, posterUrl }: Dependencies) =>
  implementWrite(updateCampaign, database.sqlTransaction, async ({ params, body, caller, transaction }) =>
    transaction(async (tx, note) => {
      const row = await lockCampaign(tx, caller, params.id);
      if (!row) throw Problem.notFound();
      requireDraft(row.status);
      const before = fieldsOf(row);
      const fields = merge(before, body);
      requireDateOrder(fields, body);
      requireSmallJson(fields);
      if (fields.group_id !== before.group_id) await requireGroup(tx, caller, fields.group_id);
      note({ changed: changedFields(before, fields) });
      if (body.media_asset_id) await useAsset(tx, caller, body.media_asset_id);
      return viewCampaign(await changeCampaign(tx, row, fields, clock.now()), posterUrl);
    }),
  );

/** Fields in the request replace the stored ones, except that the brief is merged. */
function merge(before: CampaignFields, change: z.output<typeof CampaignChange>): CampaignFields {
  return { ...before, ...change, brief: { ...before.brief, ...change.brief } } as CampaignFields;
}
