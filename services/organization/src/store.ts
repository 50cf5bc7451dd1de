import { type Database, type NewClient, openDatabase } from '@attribution/database';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** The transaction of this service's database, as the stores take it. */
export type Tx = Prisma.TransactionClient;

export const newClient: NewClient<PrismaClient> = (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' });

export type OrganizationDatabase = Database<PrismaClient, Tx>;

/** For commands beside the service, whose statements may last. */
export const openOrganizationDatabase = (url: string): OrganizationDatabase =>
  openDatabase<PrismaClient, Tx>({ url, poolSize: 2, statementTimeout: 60_000 }, newClient);
