export { createBillingService } from './service.ts';

/** The folder of the database's migrations. */
export const migrations = new URL('../prisma/migrations', import.meta.url);
