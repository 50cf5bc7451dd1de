import { defineConfig } from 'prisma/config';

/** For Prisma's own command line; the platform itself migrates at start. */
export default defineConfig({
  schema: 'prisma/schema',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
