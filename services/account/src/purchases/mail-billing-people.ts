import type { BillingMail, Mail, MailQueue } from '../mail/index.ts';
import type { Tx } from '../store.ts';
import { findAdministrators, findBillingPeople, type Person } from './billing-people.store.ts';

/** The fields that the events of payments and refunds share. */
interface Bought {
  readonly account_id: string;
  readonly description: string;
  readonly amount_cents: number;
  readonly currency: string;
}

type Template = (about: BillingMail) => Mail;

/** Queues a message to each user with billing access, in the transaction of the payment or refund. */
export async function mailBillingPeople(
  tx: Tx,
  mail: MailQueue,
  bought: Bought,
  tokens: number,
  template: Template,
): Promise<void> {
  await mailTo(await findBillingPeople(tx, bought.account_id), { tx, mail, bought, tokens, template });
}

/** The same to the owner and the admins, whatever they have access to. */
export async function mailAdministrators(
  tx: Tx,
  mail: MailQueue,
  bought: Bought,
  tokens: number,
  template: Template,
): Promise<void> {
  await mailTo(await findAdministrators(tx, bought.account_id), { tx, mail, bought, tokens, template });
}

async function mailTo(
  people: readonly Person[],
  {
    tx,
    mail,
    bought,
    tokens,
    template,
  }: {
    readonly tx: Tx;
    readonly mail: MailQueue;
    readonly bought: Bought;
    readonly tokens: number;
    readonly template: Template;
  },
): Promise<void> {
  const { description, amount_cents: amountCents, currency } = bought;
  for (const { email, full_name: fullName, account_name: accountName } of people)
    await mail.enqueue(tx, template({ description, amountCents, currency, tokens, to: email, fullName, accountName }));
}
