import { type Database, type DatabaseOptions, kyselyOf, openDatabase, type Sql } from '@attribution/database';
import type { EventContext, NewEvent } from '@attribution/messaging';
import type { DB } from './generated/kysely/types.ts';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';
import type { ProviderObject } from './provider/index.ts';

/** Of the transactions that Prisma begins: stores take these, and any other, as `Sql`. */
export type Tx = Prisma.TransactionClient;

export type BillingDatabase = Database<PrismaClient, Tx>;

export const openBillingDatabase = (options: DatabaseOptions): BillingDatabase =>
  openDatabase(options, (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }));

/** The queries of this service's stores, over `BillingDatabase.sql` or a transaction. */
export const db = kyselyOf<DB>();

/** What the money ledger of an account ends with. */
export interface LedgerEnd {
  ledger_cents: bigint;
  last_seq: number;
}

/** A transaction that writes what the provider says of one account, whose row is locked. */
export interface Writing {
  readonly tx: Sql;
  readonly customer: {
    readonly account_id: string;
    readonly provider_customer_id: string | null;
    readonly currency: string;
  };
  /** Moves with each entry. */
  readonly ledger: LedgerEnd;
  readonly context: EventContext;
  /** Appends an event, with the others of the transaction. */
  readonly tell: (event: NewEvent) => void;
}

/**
 * Fetches an object of the provider and writes what it is now, with what follows from that, in one transaction. It is
 * fetched under the lock of the customer's row: of two who hear of it, the later writes what is later. What belongs to
 * nobody here is left alone. Throws `ProviderError`.
 */
export type Refresh = (kind: ProviderObject, id: string) => Promise<void>;

/** Runs work in a transaction that has the account's customer locked, and appends what it tells. */
export type WriteFor = <T>(accountId: string, work: (writing: Writing) => Promise<T>) => Promise<T>;
