import type { Database } from '@attribution/database';
import type { Prisma, PrismaClient } from './generated/prisma/client.ts';

/** The transaction of this service's database, as the stores take it. */
export type Tx = Prisma.TransactionClient;

export type OrganizationDatabase = Database<PrismaClient, Tx>;

/** Part of a name, in any letter case. Prisma leaves `%`, `_` and `\` to LIKE, which a query does not mean. */
export const nameContains = (query: string) => ({
  name: { contains: query.replaceAll(/[\\%_]/g, '\\$&'), mode: 'insensitive' as const },
});
