import type { Sql } from '@attribution/database';
import { db } from '../store.ts';
import type { Kept } from './keepers.ts';

const checkouts = (tx: Sql) => db(tx).selectFrom('checkouts').select('account_id');
const payments = (tx: Sql) => db(tx).selectFrom('payments').select('account_id');
const subscriptions = (tx: Sql) => db(tx).selectFrom('subscriptions').select('account_id');
const refunds = (tx: Sql) => db(tx).selectFrom('refunds').select('account_id');
const disputes = (tx: Sql) => db(tx).selectFrom('disputes').select('account_id');
const customers = (tx: Sql) => db(tx).selectFrom('customers').select('account_id');

/** Queries by the provider's ids; a reference is our own id of a checkout. */
const queries = {
  checkout: (tx: Sql, id: string) => checkouts(tx).where('provider_checkout_id', '=', id),
  payment: (tx: Sql, id: string) => payments(tx).where('provider_payment_id', '=', id),
  invoice: (tx: Sql, id: string) => payments(tx).where('provider_invoice_id', '=', id),
  subscription: (tx: Sql, id: string) => subscriptions(tx).where('provider_subscription_id', '=', id),
  refund: (tx: Sql, id: string) => refunds(tx).where('provider_refund_id', '=', id),
  dispute: (tx: Sql, id: string) => disputes(tx).where('id', '=', id),
  reference: (tx: Sql, id: string) => checkouts(tx).where('id', '=', id),
  customer: (tx: Sql, id: string) => customers(tx).where('provider_customer_id', '=', id),
} satisfies Record<Kept | 'reference', unknown>;

/** The account of a provider object, if that object is stored. */
export async function findAccountOf(tx: Sql, kind: keyof typeof queries, id: string): Promise<string | undefined> {
  return (await queries[kind](tx, id).executeTakeFirst())?.account_id;
}
