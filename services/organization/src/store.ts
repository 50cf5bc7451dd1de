import type { Database, NewClient } from '@attribution/database';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** The transaction of this service's database, as the stores take it. */
export type Tx = Prisma.TransactionClient;

export const newClient: NewClient<PrismaClient> = (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' });

export type OrganizationDatabase = Database<PrismaClient, Tx>;
