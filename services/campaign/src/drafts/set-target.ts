import { setCampaignTarget } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { changeCampaign } from '../campaigns/index.ts';
import { requireTargetIds } from '../target/index.ts';
import type { Dependencies } from './dependencies.ts';
import { lockDraft } from './lock-draft.ts';

export const setTargetEndpoint = ({ database, clock }: Dependencies) =>
  implementWrite(setCampaignTarget, database.sqlTransaction, async ({ params, body, caller, transaction }) =>
    transaction(async (tx) => {
      const campaign = await lockDraft(tx, caller, params.id);
      await requireTargetIds(tx, caller, body);
      return (await changeCampaign(tx, campaign, { target: body }, clock.now())).target;
    }),
  );
