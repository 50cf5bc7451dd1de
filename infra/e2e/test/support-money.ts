import {
  acceptInvitation,
  type Client,
  createInvitation,
  getBalance,
  getBillingSummary,
  getCheckoutSession,
  listLedger,
  listMoneyEntries,
  listPayments,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { expect } from '@jest/globals';
import { fromSomewhere, newEmail, newOwner, type Platform, password } from './support-platform.ts';

/** The tokens granted to every new account. */
export const free = 1_000;

export type Account = Awaited<ReturnType<ReturnType<typeof moneyOn>['newAccount']>>;

/** Helpers for tests about accounts and money. */
export function moneyOn(on: () => Platform) {
  /** Creates an account, with functions that read its money as its owner. */
  async function newAccount() {
    const { client, account_id, email } = await newOwner(on());
    const params = { id: account_id };
    return {
      client,
      email,
      account_id,
      available: async () => (await client.call(getBalance, { params })).body.available,
      tokenEntries: async () => (await client.call(listLedger, { params })).body.entries,
      payments: async () => (await client.call(listPayments)).body.entries,
      moneyEntries: async () => (await client.call(listMoneyEntries)).body.entries,
      /** Resolves with the payment of an upgrade, once it is listed besides that of the first plan. */
      upgradePayment: () =>
        eventually(async () => {
          const [payment, ...others] = (await client.call(listPayments)).body.entries;
          expect(others).toHaveLength(1);
          expect(payment).toMatchObject({ kind: 'subscription', status: 'succeeded' });
          return payment;
        }),
      subscription: async () => (await client.call(getBillingSummary)).body.active_subscription,
      statusOf: async (id: string) => (await client.call(getCheckoutSession, { params: { id } })).body.status,
    };
  }

  /** Adds another user to the account and returns the address. */
  async function join(
    { client }: { readonly client: Client },
    rights: { role?: 'admin' | 'member'; billing?: boolean },
  ): Promise<string> {
    const email = newEmail();
    await client.call(createInvitation, { body: { email, ...rights } });
    const token = await on().mailbox.tokenFor(email);
    const body = { token, full_name: 'Grace Hopper', password };
    await on().client.with({ headers: fromSomewhere() }).call(acceptInvitation, { body });
    return email;
  }

  /** The subjects of the mails about money that the address received. */
  async function billingMail(email: string): Promise<string[]> {
    const subjects = (await on().mailbox.messagesTo(email)).map((message) => /^Subject: (.*)$/m.exec(message)?.[1]);
    return subjects
      .filter((subject) => subject !== undefined)
      .filter((subject) => /receipt|payment|refund/.test(subject));
  }

  const untilMail = (email: string, subjects: readonly string[]) =>
    eventually(async () => expect(await billingMail(email)).toEqual(subjects));

  /** Resolves once Billing has handled all notifications, and Account all of Billing's events. */
  async function untilQuiet(): Promise<void> {
    const count = async (service: string, table: string) =>
      (await on().rows<{ n: number }>(service, `SELECT count(*)::int AS n FROM ${table}`))[0]?.n;
    await eventually(async () => {
      expect(await count('billing', 'provider_events WHERE due_at IS NOT NULL')).toBe(0);
      expect(await count('billing', 'outbox')).toBe(0);
      expect(await count('account', 'queued_mails')).toBe(0);
    });
  }

  return { newAccount, join, billingMail, untilMail, untilQuiet };
}
