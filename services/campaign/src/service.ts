import type { OpenDependencies, ServiceContents } from '@attribution/service';
import { adEndpoints } from './ads/index.ts';
import * as campaigns from './campaigns/index.ts';
import type { CampaignConfig } from './config.ts';
import { draftEndpoints } from './drafts/index.ts';
import { createJobQueue, getJobEndpoint, type JobWork } from './jobs/index.ts';
import { libraryEndpoints } from './libraries/index.ts';
import { followManifestChanges, getManifestEndpoint } from './manifests/index.ts';
import * as media from './media/index.ts';
import { followPlacements, listPlacementsEndpoint } from './placements/index.ts';
import { publishingEndpoints } from './publishing/index.ts';
import * as scoring from './scoring/index.ts';
import type { CampaignDatabase, Tx } from './store.ts';

/** How long the processing of a file may take. */
const processingMs = 10 * 60_000;

export function openCampaign(
  dependencies: OpenDependencies<CampaignDatabase, CampaignConfig, 'account' | 'billing'>,
): ServiceContents<Tx> {
  const { database, outbox, clock, config, logger, role, wake, clients } = dependencies;
  const store = media.openStore(config);
  const signer = media.createSigner(config.MEDIA_URL_SECRET);
  const urls = media.createMediaUrls(signer, config.PUBLIC_URL);
  const sweep = () => wake(media.sweepName);
  const jobs = createJobQueue({
    database,
    clock,
    logger,
    role,
    works: () => [processing as JobWork<never>, scores as JobWork<never>],
  });
  let decoder: ReturnType<typeof media.findDecoder> | undefined;
  async function findDecoder() {
    const found = await media.findDecoder(config.MEDIA_FFMPEG);
    if (!found) logger.warn({ program: config.MEDIA_FFMPEG }, 'No such program: videos are not decoded');
    return found;
  }
  const processing = media.processingWork({
    ...{ database, clock, store, sweep, withinMs: processingMs },
    atATime: config.MEDIA_JOBS,
    decoder: () => (decoder ??= findDecoder()),
    directory: config.MEDIA_WORK_DIR,
  });

  const scorer =
    config.SCORER_URL !== undefined && config.SCORER_MODEL !== undefined
      ? scoring.createHttpScorer({ url: config.SCORER_URL, model: config.SCORER_MODEL })
      : scoring.heuristic;
  const runs = { database, outbox, clock, scorer, tokens: scoring.createTokens(clients, logger) };
  const scores = scoring.scoringWork(runs);

  const posterUrl = (key: string | null) => media.pictureUrl(urls, key, urls.fileExpiry(clock.now()));
  const studio = { database, outbox, clock, posterUrl };

  return {
    implementations: [
      campaigns.listCampaignsEndpoint(studio),
      campaigns.createCampaignEndpoint(studio),
      campaigns.getCampaignEndpoint(studio),
      campaigns.updateCampaignEndpoint(studio),
      campaigns.findInSightEndpoint(database),
      ...draftEndpoints(studio),
      ...publishingEndpoints(studio),
      listPlacementsEndpoint(database),
      scoring.scoreCampaignEndpoint({ ...runs, jobs }),
      scoring.listScoresEndpoint({ database }),
      getManifestEndpoint({ database, outbox, clock, fileUrl: urls.file }),
      ...adEndpoints(studio),
      ...libraryEndpoints({ database, clock }),
      ...media.mediaEndpoints({ database, clock, logger, store, signer, urls, jobs, sweep }),
      getJobEndpoint(database, {
        media_processing: media.seesAsset,
        campaign_scoring: async (tx, caller, id) => (await campaigns.findCampaign(tx, caller, id)) !== undefined,
      }),
    ],
    jobs: [
      media.sweepJob({ database, store, clock }),
      followPlacements({ database, outbox, clock }),
      followManifestChanges({ database, outbox, clock }),
      scoring.finishLostRuns(runs),
    ],
    start() {
      if (role !== 'api') void media.removeOrphans(config.MEDIA_WORK_DIR);
      jobs.start();
    },
    async drain(deadline) {
      await jobs.stop(deadline);
      store.close();
    },
  };
}
