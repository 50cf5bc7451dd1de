import type { BillingMail, Mail, MailQueue } from '../mail/index.ts';
import type { Tx } from '../store.ts';
import { findBillingPeople } from './billing-people.store.ts';

/** The fields that the events of payments and refunds share. */
interface Bought {
  readonly account_id: string;
  readonly description: string;
  readonly amount_cents: number;
  readonly currency: string;
}

/** Queues a message to each user with billing access, in the transaction of the payment or refund. */
export async function mailBillingPeople(
  tx: Tx,
  mail: MailQueue,
  { account_id, description, amount_cents, currency }: Bought,
  tokens: number,
  template: (about: BillingMail) => Mail,
): Promise<void> {
  const about = { description, amountCents: amount_cents, currency, tokens };
  const people = await findBillingPeople(tx, account_id);
  for (const { email, full_name, account_name } of people)
    await mail.enqueue(tx, template({ ...about, to: email, fullName: full_name, accountName: account_name }));
}
