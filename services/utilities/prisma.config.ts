import { defineConfig } from 'prisma/config';

/** For Prisma's command line only; the platform runs its migrations itself. */
export default defineConfig({
  schema: 'prisma/schema',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
