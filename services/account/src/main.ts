import { runService } from '@attribution/service';
import { createAccountService, migrations } from './index.ts';

await runService({ name: 'account', migrations, create: createAccountService });
