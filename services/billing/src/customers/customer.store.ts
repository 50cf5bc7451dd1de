import type { Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { Customer } from '../generated/kysely/types.ts';
import { type BillingDatabase, db } from '../store.ts';

/** Every customer has this currency. */
export const currency = 'usd';

export type CustomerRow = Readonly<Omit<Selectable<Customer>, 'ledger_cents'>> & { readonly ledger_cents: bigint };

/** Inserts the customer, or sets the name of one that was inserted before the account's event arrived. */
export async function putCustomer(tx: Sql, customer: { accountId: string; name: string; now: Date }): Promise<void> {
  const { accountId: account_id, name, now: created_at } = customer;
  await db(tx)
    .insertInto('customers')
    .values({ account_id, name, currency, created_at })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ name, created_at }))
    .execute();
}

const customersOf = (tx: Sql, accountId: string) =>
  db(tx).selectFrom('customers').selectAll().where('customers.account_id', '=', accountId);

/** pg returns a bigint as text, because not every bigint fits into a number. */
const readRow = (row: Selectable<Customer>): CustomerRow => ({ ...row, ledger_cents: BigInt(row.ledger_cents) });

/** Inserts the customer without a name, for a request that arrives before the event of the account. */
export async function ensureCustomer({ sql }: BillingDatabase, accountId: string, now: Date): Promise<CustomerRow> {
  await db(sql)
    .insertInto('customers')
    .values({ account_id: accountId, name: '', currency, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return readRow(await customersOf(sql, accountId).executeTakeFirstOrThrow());
}

/** Payments and refunds are kept after the account is deleted. */
export async function deleteCustomer(tx: Sql, accountId: string): Promise<void> {
  await db(tx)
    .deleteFrom('customers')
    .where('account_id', '=', accountId)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('money_entries').select('id').whereRef('money_entries.account_id', '=', 'customers.account_id'),
        ),
      ),
    )
    .execute();
}

export async function findCustomer({ sql }: BillingDatabase, accountId: string): Promise<CustomerRow | undefined> {
  const row = await customersOf(sql, accountId).executeTakeFirst();
  return row && readRow(row);
}

export async function findProviderCustomerId({ sql }: BillingDatabase, accountId: string): Promise<string | null> {
  const customer = db(sql).selectFrom('customers').select('provider_customer_id').where('account_id', '=', accountId);
  return (await customer.executeTakeFirst())?.provider_customer_id ?? null;
}

export async function setProviderCustomer({ sql }: BillingDatabase, accountId: string, id: string): Promise<void> {
  await db(sql)
    .updateTable('customers')
    .set({ provider_customer_id: id })
    .where('account_id', '=', accountId)
    .where('provider_customer_id', 'is', null)
    .execute();
}

/** Locks the customer, so that transactions that store the provider's state of one account run one after the other. */
export async function lockCustomer(tx: Sql, accountId: string): Promise<CustomerRow | undefined> {
  const row = await customersOf(tx, accountId).forNoKeyUpdate().executeTakeFirst();
  return row && readRow(row);
}

export async function setCreditBalance(tx: Sql, accountId: string, cents: number): Promise<void> {
  await db(tx)
    .updateTable('customers')
    .set({ credit_balance_cents: cents })
    .where('account_id', '=', accountId)
    .where('credit_balance_cents', '<>', cents)
    .execute();
}
