import { runService } from '@attribution/service';
import { createBillingService, migrations } from './index.ts';

await runService({ name: 'billing', migrations, create: createBillingService });
