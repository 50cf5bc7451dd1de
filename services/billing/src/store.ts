import { type Database, type DatabaseOptions, kyselyOf, openDatabase, type Sql } from '@attribution/database';
import type { EventContext, NewEvent } from '@attribution/messaging';
import type { DB } from './generated/kysely/types.ts';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';
import type { ProviderObject } from './provider/index.ts';

/** A transaction that Prisma begins. Stores accept it, like any other transaction, as `Sql`. */
export type Tx = Prisma.TransactionClient;

export type BillingDatabase = Database<PrismaClient, Tx>;

export const openBillingDatabase = (options: DatabaseOptions): BillingDatabase =>
  openDatabase(options, (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }));

/** Kysely for the queries of this service, over `BillingDatabase.sql` or a transaction. */
export const db = kyselyOf<DB>();

/** The sum and the sequence number of the latest entry in an account's money ledger. */
export interface LedgerEnd {
  ledger_cents: bigint;
  last_seq: number;
}

/** A transaction that stores the provider's state of one account, whose row is locked. */
export interface Writing {
  readonly tx: Sql;
  readonly customer: {
    readonly account_id: string;
    readonly provider_customer_id: string | null;
    readonly currency: string;
  };
  /** Updated by each new entry. */
  readonly ledger: LedgerEnd;
  readonly context: EventContext;
  /** Appends an event to the outbox when the work is done. */
  readonly publish: (event: NewEvent) => void;
}

/**
 * Fetches an object from the provider, stores its state and everything that follows from it, in one transaction. The
 * object is fetched under the lock of the customer's row, so that of two concurrent refreshes the later one stores the
 * later state. Objects of unknown customers are ignored. Throws `ProviderError`.
 */
export type Refresh = (kind: ProviderObject, id: string) => Promise<void>;

/** Runs work in a transaction with the account's customer locked, and appends the events that it publishes. */
export type WriteFor = <T>(accountId: string, work: (writing: Writing) => Promise<T>) => Promise<T>;
