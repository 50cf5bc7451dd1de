import { type Database, type DatabaseOptions, kyselyOf, openDatabase } from '@attribution/database';
import type { DB } from './generated/kysely/types.ts';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

/** A transaction that Prisma begins. Stores accept it, like any other transaction, as `Sql`. */
export type Tx = Prisma.TransactionClient;

export type EventsDatabase = Database<PrismaClient, Tx>;

export const openEventsDatabase = (options: DatabaseOptions): EventsDatabase =>
  openDatabase(options, (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }));

/** Kysely for the queries of this service, over `EventsDatabase.sql` or a transaction. */
export const db = kyselyOf<DB>();
