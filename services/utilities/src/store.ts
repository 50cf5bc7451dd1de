import { type Database, type DatabaseOptions, kyselyOf, openDatabase } from '@attribution/database';
import type { DB } from './generated/kysely/types.ts';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** A transaction of this service's database. */
export type Tx = Prisma.TransactionClient;

export type UtilitiesDatabase = Database<PrismaClient, Tx>;

export const openUtilitiesDatabase = (options: DatabaseOptions): UtilitiesDatabase =>
  openDatabase(options, (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }));

/** Kysely for the queries of this service, over `UtilitiesDatabase.sql` or a transaction. */
export const db = kyselyOf<DB>();
