import {
  addPaymentMethod,
  cancelSubscription,
  captureTokenHold,
  changePlan,
  createCheckoutSession,
  createRefund,
  createTokenHold,
  resumeSubscription,
} from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import type { Chance } from '@attribution/testing';
import type { Bank } from './bank.ts';

type Account = Awaited<ReturnType<Bank['openAccount']>>;
type Paid = { readonly id: string; readonly total_cents: number };

const cards = [
  'succeeds',
  'succeeds',
  'succeeds',
  'declined',
  'insufficient_funds',
  'fails_later',
  'authenticates',
  'authenticates_always',
  'pays_late',
  'disputed',
  'warned',
] as const;
const packs = ['tokens_1000', 'tokens_10000', 'tokens_100000'] as const;
const plans = ['starter', 'growth', 'enterprise'] as const;
/** The relative frequency of each action. */
const weights = {
  ...{ buy: 30, subscribe: 12, change: 12, cancel: 5, resume: 5, card: 6, refund: 18, spend: 12 },
  ...{ dispute: 3, decide: 6, warn: 1, confirm: 6 },
};
type Action = keyof typeof weights;
/** How often a request is sent under one idempotency key until its response is not a 5xx. */
const maxAttempts = 6;

/** An account whose owner does random things that an owner may do. */
export function createCustomer(bank: Bank, { account, client }: Account, chance: Chance) {
  /** Repeats a request under the same key until its response is not a 5xx. Undefined if every response is. */
  async function retry<T extends { readonly status: number }>(
    send: (key: string) => Promise<T>,
  ): Promise<T | undefined> {
    const key = newUuid();
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const answer = await send(key);
      if (answer.status < 500) return answer;
    }
    return undefined;
  }

  async function payOn(url: string): Promise<void> {
    const post = (action: string) =>
      fetch(url, { method: 'POST', body: new URLSearchParams({ action }), redirect: 'manual' }).then((answer) =>
        answer.arrayBuffer(),
      );
    const card = chance.pick(cards);
    const tabs = chance.share() < 0.2 ? 3 : 1;
    await Promise.all(Array.from({ length: tabs }, () => post(`use:${card}`)));
    if (card.startsWith('authenticates')) await post(chance.share() < 0.8 ? 'confirm' : 'refuse');
  }

  async function checkOut(mode: 'payment' | 'subscription', plan_key: string): Promise<void> {
    const made = await retry((key) =>
      client.call(createCheckoutSession, { body: { mode, plan_key }, headers: { 'idempotency-key': key } }),
    );
    if (made?.status === 201 && chance.share() < 0.9) await payOn(made.body.url);
  }

  const actions: Readonly<Record<Action, () => Promise<void>>> = {
    buy: () => checkOut('payment', chance.pick(packs)),
    subscribe: () => checkOut('subscription', chance.pick(plans)),
    async change() {
      const body = { plan_key: chance.pick(plans) };
      await retry((key) => client.call(changePlan, { body, headers: { 'idempotency-key': key } }));
    },
    cancel: async () => void (await retry(() => client.call(cancelSubscription))),
    resume: async () => void (await retry(() => client.call(resumeSubscription))),
    async card() {
      const made = await retry((key) => client.call(addPaymentMethod, { headers: { 'idempotency-key': key } }));
      const page = made?.status === 201 ? await pageAt(`/setup/${made.body.client_secret}`) : undefined;
      if (page !== undefined) await payOn(page);
    },
    async refund() {
      const [paid] = await bank.rows<Paid>(
        'billing',
        `SELECT id, total_cents FROM payments WHERE account_id = $1 AND status = 'succeeded' AND refunded_cents + credited_cents < total_cents
         ORDER BY md5(id || $2) LIMIT 1`,
        [account, newUuid()],
      );
      if (!paid) return;
      const amount_cents = chance.share() < 0.5 ? null : chance.int(1, paid.total_cents);
      const destination = chance.share() < 0.4 ? 'store_credit' : 'payment_method';
      await retry((idempotency_key) =>
        bank.inside('billing', 'billing').call(createRefund, {
          body: { account_id: account, payment_id: paid.id, idempotency_key, amount_cents, destination },
        }),
      );
    },
    dispute: () => atBank('dispute', 'NOT disputed'),
    decide: () => atBank(chance.share() < 0.5 ? 'win' : 'lose', 'disputed'),
    warn: () => atBank('warn', 'NOT disputed'),
    async confirm() {
      const [waiting] = await bank.rows<{ invoice: string }>(
        'billing',
        `SELECT provider_invoice_id AS invoice FROM payments WHERE account_id = $1 AND status = 'pending' AND asked_holder`,
        [account],
      );
      const page = waiting && (await pageAt(`/invoices/${waiting.invoice}`));
      const action = chance.share() < 0.8 ? 'confirm' : 'refuse';
      if (page) await (await fetch(page, { method: 'POST', body: new URLSearchParams({ action }) })).arrayBuffer();
    },
    async spend() {
      const held = await bank.inside('account', 'campaign').call(createTokenHold, {
        body: {
          account_id: account,
          idempotency_key: newUuid(),
          amount: chance.int(1, 20_000),
          description: 'Scoring',
          expires_in: '1h',
        },
      });
      if (held.status !== 201) return;
      const amount = chance.int(1, held.body.amount);
      await bank
        .inside('account', 'campaign')
        .call(captureTokenHold, { params: { id: held.body.id }, body: { amount } });
    },
  };

  /** The payer's bank does something with a payment, on its receipt. */
  async function atBank(action: string, which: string): Promise<void> {
    const [paid] = await bank.rows<{ url: string }>(
      'billing',
      `SELECT receipt_url AS url FROM payments
       WHERE account_id = $1 AND status = 'succeeded' AND receipt_url IS NOT NULL AND ${which} ORDER BY md5(id || $2) LIMIT 1`,
      [account, newUuid()],
    );
    if (paid) await (await fetch(paid.url, { method: 'POST', body: new URLSearchParams({ action }) })).arrayBuffer();
  }

  /** A page that has the same origin as the checkout pages. */
  async function pageAt(path: string): Promise<string | undefined> {
    const [known] = await bank.rows<{ url: string }>(
      'billing',
      'SELECT url FROM checkouts WHERE url IS NOT NULL LIMIT 1',
    );
    return known && new URL(path, known.url).href;
  }

  return {
    account,
    act: () => {
      const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
      let point = chance.share() * total;
      const chosen = (Object.keys(weights) as Action[]).find((action) => (point -= weights[action]) < 0) ?? 'buy';
      return actions[chosen]();
    },
  };
}
