import { runService } from '@attribution/service';
import { createOrganizationService, migrations } from './index.ts';

await runService({ name: 'organization', migrations, create: createOrganizationService });
