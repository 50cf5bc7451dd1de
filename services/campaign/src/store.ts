import { type Database, type DatabaseOptions, kyselyOf, openDatabase } from '@attribution/database';
import type { DB } from './generated/kysely/types.ts';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** Of the transactions that Prisma begins: stores take these, and any other, as `Sql`. */
export type Tx = Prisma.TransactionClient;

export type CampaignDatabase = Database<PrismaClient, Tx>;

export const openCampaignDatabase = (options: DatabaseOptions): CampaignDatabase =>
  openDatabase(options, (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }));

/** The queries of this service's stores, over `CampaignDatabase.sql` or a transaction. */
export const db = kyselyOf<DB>();
