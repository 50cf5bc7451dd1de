import type { Sql } from '@attribution/database';
import type { Kept } from './keepers.ts';

const queries: Readonly<Record<Kept | 'reference', string>> = {
  checkout: 'SELECT account_id FROM checkouts WHERE provider_checkout_id = $1',
  payment: 'SELECT account_id FROM payments WHERE provider_payment_id = $1',
  invoice: 'SELECT account_id FROM payments WHERE provider_invoice_id = $1',
  subscription: 'SELECT account_id FROM subscriptions WHERE provider_subscription_id = $1',
  refund: 'SELECT account_id FROM refunds WHERE provider_refund_id = $1',
  reference: 'SELECT account_id FROM checkouts WHERE id = $1',
  customer: 'SELECT account_id FROM customers WHERE provider_customer_id = $1',
};

/** The account that an object of the provider is known to be of. */
export async function findAccountOf(sql: Sql, kind: keyof typeof queries, id: string): Promise<string | undefined> {
  return (await sql.$queryRawUnsafe<{ account_id: string }[]>(queries[kind], id))[0]?.account_id;
}
