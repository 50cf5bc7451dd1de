import { accountCreated, accountLimitsChanged, accountPurged, organizationEvents } from '@attribution/contracts';
import { defineService } from '@attribution/service';
import { z } from 'zod';
import { housekeeping } from './housekeeping.ts';
import { purgeJob } from './purge/index.ts';
import { openOrganization } from './service.ts';
import { openOrganizationDatabase } from './store.ts';

export default defineService({
  name: 'organization',
  summary: 'The physical estate: groups ▸ locations ▸ zones ▸ screens, with installations and cameras',
  migrations: new URL('../prisma/migrations', import.meta.url),
  settings: z.object({}),
  calls: { utilities: ['api', 'worker'] },
  publishes: [organizationEvents],
  handles: [accountCreated, accountLimitsChanged, accountPurged],
  openDatabase: openOrganizationDatabase,
  open: openOrganization,
  purges: housekeeping,
  purgeEvery: { [purgeJob]: 60_000 },
});
