import { type Database, type DatabaseOptions, openDatabase } from '@attribution/database';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** The transaction of this service's database, as the stores take it. */
export type Tx = Prisma.TransactionClient;

export type CampaignDatabase = Database<PrismaClient, Tx>;

export const openCampaignDatabase = (options: DatabaseOptions): CampaignDatabase =>
  openDatabase(options, (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }));
