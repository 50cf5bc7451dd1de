import type { Sql } from '@attribution/database';
import type { BillingDatabase, Tx } from '../store.ts';

/** The currency of every customer. */
export const currency = 'usd';

export interface CustomerRow {
  readonly account_id: string;
  readonly name: string;
  readonly provider_customer_id: string | null;
  readonly currency: string;
  readonly ledger_cents: bigint;
  readonly last_seq: number;
}

/** Makes the customer known, by its name where that is told first. */
export async function putCustomer(tx: Tx, customer: { accountId: string; name: string; now: Date }): Promise<void> {
  const { accountId: account_id, name, now: created_at } = customer;
  const create = { account_id, name, currency, created_at };
  await tx.customer.upsert({ where: { account_id }, create, update: { name, created_at } });
}

/** For whoever comes before the news of the account. */
export async function ensureCustomer({ sql }: BillingDatabase, accountId: string, now: Date): Promise<CustomerRow> {
  await sql.$executeRaw`
    INSERT INTO customers (account_id, name, currency, created_at)
    VALUES (${accountId}, '', ${currency}, ${now}) ON CONFLICT DO NOTHING`;
  const [row] = await sql.$queryRaw<CustomerRow[]>`
    SELECT account_id, name, provider_customer_id, currency, ledger_cents, last_seq FROM customers
    WHERE account_id = ${accountId}`;
  if (!row) throw new Error(`No customer ${accountId}`);
  return row;
}

/** What was paid or refunded is kept, whatever becomes of the account. */
export async function deleteCustomer(tx: Tx, accountId: string): Promise<void> {
  await tx.customer.deleteMany({ where: { account_id: accountId, entries: { none: {} } } });
}

/** The customer with its latest subscription. */
export async function findCustomer({ prisma }: BillingDatabase, accountId: string) {
  return prisma.customer.findUnique({
    where: { account_id: accountId },
    include: { subscriptions: { orderBy: [{ created_at: 'desc' }, { provider_subscription_id: 'desc' }], take: 1 } },
  });
}

export async function findProviderCustomerId({ sql }: BillingDatabase, accountId: string): Promise<string | null> {
  const [row] = await sql.$queryRaw<{ provider_customer_id: string | null }[]>`
    SELECT provider_customer_id FROM customers WHERE account_id = ${accountId}`;
  return row?.provider_customer_id ?? null;
}

export async function setProviderCustomer({ sql }: BillingDatabase, accountId: string, id: string): Promise<void> {
  await sql.$executeRaw`
    UPDATE customers SET provider_customer_id = ${id} WHERE account_id = ${accountId} AND provider_customer_id IS NULL`;
}

/** The customer, locked: whoever writes what the provider says of an account does so in turn. */
export async function lockCustomer(tx: Sql, accountId: string): Promise<CustomerRow | undefined> {
  const [row] = await tx.$queryRaw<CustomerRow[]>`
    SELECT account_id, name, provider_customer_id, currency, ledger_cents, last_seq FROM customers
    WHERE account_id = ${accountId} FOR NO KEY UPDATE`;
  return row && { ...row, ledger_cents: BigInt(row.ledger_cents) };
}

export async function setCreditBalance(tx: Sql, accountId: string, cents: number): Promise<void> {
  await tx.$executeRaw`
    UPDATE customers SET credit_balance_cents = ${cents}
    WHERE account_id = ${accountId} AND credit_balance_cents <> ${cents}`;
}
