import { runService } from '@attribution/service';
import { createCampaignService, migrations } from './index.ts';

await runService({ name: 'campaign', migrations, create: createCampaignService });
