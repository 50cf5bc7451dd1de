import { type CampaignChange, Problem, updateCampaign } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import type { CampaignDatabase } from '../store.ts';
import { lockCampaign, replaceFields } from './campaign.store.ts';
import { type CampaignFields, requireDateOrder, requireDraft } from './campaign.ts';
import { fieldsOf, viewCampaign } from './campaign.view.ts';
import { requireGroup } from './group-choice.ts';

export const updateCampaignEndpoint = ({ database, clock }: { database: CampaignDatabase; clock: Clock }) =>
  implement(updateCampaign, async ({ params, body, caller }) =>
    database.sqlTransaction(async (tx) => {
      const row = await lockCampaign(tx, caller, params.id);
      if (!row) throw Problem.notFound();
      requireDraft(row.status);
      const before = fieldsOf(row);
      const fields = merge(before, body);
      requireDateOrder(fields, body);
      if (fields.group_id && fields.group_id !== before.group_id) await requireGroup(tx, caller, fields.group_id);
      return viewCampaign(await replaceFields(tx, row, fields, clock.now()));
    }),
  );

/** Fields in the request replace the stored ones, except that the brief is merged. */
function merge(before: CampaignFields, change: z.output<typeof CampaignChange>): CampaignFields {
  return { ...before, ...change, brief: { ...before.brief, ...change.brief } } as CampaignFields;
}
