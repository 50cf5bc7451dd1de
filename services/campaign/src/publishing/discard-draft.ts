import { discardCampaignDraft, Problem } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { changeCampaign, findPlannedAds, lockCampaign, reportCampaign, viewDetail } from '../campaigns/index.ts';
import type { Dependencies } from './dependencies.ts';
import { restoreAds, stillThere } from './restore.store.ts';
import { requireStep } from './states.ts';
import { findVersion } from './version.store.ts';

export const discardDraftEndpoint = ({ database, clock, posterUrl }: Dependencies) =>
  implementWrite(discardCampaignDraft, database.sqlTransaction, async ({ params, caller, transaction }) =>
    transaction(async (tx) => {
      const campaign = await lockCampaign(tx, caller, params.id);
      if (!campaign) throw Problem.notFound();
      requireStep('discard-draft', campaign);
      const { id, live_version } = campaign;
      const live = live_version === null ? undefined : await findVersion(tx, id, live_version);
      if (!live) throw new Error(`The live version of ${id} has a row`);
      const { ads: _, media_asset_id, ...fields } = live.snapshot;
      // The draft may have let go of the cover, and somebody deleted it since.
      const cover = { media_asset_id: await stillThere(tx, media_asset_id) };
      await restoreAds(tx, id);
      const ads = await findPlannedAds(tx, id);
      const now = clock.now();
      const changes = { ...fields, ...cover, status: 'published' } as const;
      const published = await changeCampaign(tx, { ...campaign, ads }, changes, now);
      return viewDetail(published, await reportCampaign(tx, caller, published, now), posterUrl);
    }),
  );
