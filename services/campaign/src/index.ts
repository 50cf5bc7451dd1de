import { campaignEvents, campaignManifests } from '@attribution/contracts';
import { defineService, followGroups } from '@attribution/service';
import { campaignSettings, checkCampaignConfig } from './config.ts';
import { followEstate } from './estate/index.ts';
import { housekeeping } from './housekeeping.ts';
import { openCampaign } from './service.ts';
import { openCampaignDatabase } from './store.ts';

export default defineService({
  name: 'campaign',
  summary: 'Media, ads and campaigns: from a file to published versions and what plays where',
  migrations: new URL('../prisma/migrations', import.meta.url),
  settings: campaignSettings,
  check: checkCampaignConfig,
  calls: { organization: ['worker'], account: ['api', 'worker'], billing: ['api', 'worker'] },
  publishes: [campaignEvents, campaignManifests],
  follows: { groups: followGroups, estate: followEstate },
  deployment: {
    compose: {
      comment:
        'Media files are in a volume, which the api and the worker share; /tmp is memory, and a video may have 2 GiB.',
      environment: {
        PUBLIC_URL: 'http://localhost:${GATEWAY_PORT:-8080}',
        MEDIA_DIR: '/var/lib/media/objects',
        MEDIA_WORK_DIR: '/var/lib/media/work',
      },
      volumes: ['media:/var/lib/media'],
    },
    kubernetes: {
      environment: {
        PUBLIC_URL: 'https://api.attribution.example',
        MEDIA_S3_BUCKET: 'attribution-media',
        MEDIA_S3_ENDPOINT: 'https://s3.attribution.example',
      },
      egress: [
        { name: 'media', why: 'Media files are in an S3-compatible store', roles: ['api', 'worker'], port: 443 },
      ],
    },
  },
  openDatabase: openCampaignDatabase,
  open: openCampaign,
  purges: housekeeping,
});
