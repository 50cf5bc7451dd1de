import { type Database, type DatabaseOptions, openDatabase } from '@attribution/database';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** A transaction of this service's database. */
export type Tx = Prisma.TransactionClient;

export type AccountDatabase = Database<PrismaClient, Tx>;

export const openAccountDatabase = (options: DatabaseOptions): AccountDatabase =>
  openDatabase(options, (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }));
