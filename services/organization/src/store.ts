import { type Database, type DatabaseOptions, openDatabase } from '@attribution/database';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** A transaction of this service's database. */
export type Tx = Prisma.TransactionClient;

export type OrganizationDatabase = Database<PrismaClient, Tx>;

export const openOrganizationDatabase = (options: DatabaseOptions): OrganizationDatabase =>
  openDatabase(options, (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }));
