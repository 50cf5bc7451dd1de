import type { BillingDatabase, Tx } from '../store.ts';

/** The currency of every customer. */
export const currency = 'usd';

export async function insertCustomer(tx: Tx, customer: { accountId: string; name: string; now: Date }): Promise<void> {
  const { accountId, name, now } = customer;
  await tx.customer.create({ data: { account_id: accountId, name, currency, created_at: now } });
}

export async function deleteCustomer(tx: Tx, accountId: string): Promise<void> {
  await tx.customer.deleteMany({ where: { account_id: accountId } });
}

/** The customer with its latest subscription. */
export async function findCustomer({ prisma }: BillingDatabase, accountId: string) {
  return prisma.customer.findUnique({
    where: { account_id: accountId },
    include: { subscriptions: { orderBy: { created_at: 'desc' }, take: 1 } },
  });
}
