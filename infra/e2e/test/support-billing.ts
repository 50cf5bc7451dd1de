import {
  addPaymentMethod,
  type Client,
  createCheckoutSession,
  getCheckoutSession,
  listPaymentMethods,
  listPayments,
  type Payment,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import type { z } from 'zod';

/** The simulated provider's test cards, by their behaviour. */
const cards = {
  pays: '4242424242424242',
  'is declined': '4000000000000002',
  'fails later': '4000000000000341',
  'asks the holder': '4000000000003220',
  'asks each time': '4000002760003184',
};
export type Card = keyof typeof cards;

/** Creates a checkout page for a token pack or a plan. */
export async function openCheckout(client: Client, plan_key: string): Promise<{ id: string; url: string }> {
  const mode = plan_key.startsWith('tokens') ? 'payment' : 'subscription';
  return (await client.call(createCheckoutSession, { body: { mode, plan_key } })).body;
}

/** Submits the form of a page of the provider, and returns the status. */
export async function payAt(page: string, card: Card = 'pays'): Promise<number> {
  return send(page, { action: 'pay', number: cards[card], expiry: '11/39', cvc: '123' });
}

/** Confirms or refuses the payment in the name of the card's holder. */
export const answerBank = (page: string, action: 'confirm' | 'refuse') => send(page, { action });

/** The payer's bank does something with a payment, on its receipt. */
export const atBank = (receipt: string | null, action: 'dispute' | 'win' | 'lose' | 'warn') =>
  send(receipt ?? '', { action });

async function send(page: string, fields: Record<string, string>): Promise<number> {
  const answer = await fetch(page, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  await answer.arrayBuffer();
  return answer.status;
}

/** Resolves once the platform knows that the checkout is paid. */
export async function untilComplete(client: Client, id: string): Promise<void> {
  await eventually(async () => {
    const { status } = (await client.call(getCheckoutSession, { params: { id } })).body;
    if (status !== 'complete') throw new Error(`Checkout ${id} is ${status}`);
  });
}

/** Buys a token pack or a plan, and returns its payment. */
export async function buy(client: Client, planKey: string, card?: Card): Promise<z.output<typeof Payment>> {
  const { id, url } = await openCheckout(client, planKey);
  await payAt(url, card);
  await untilComplete(client, id);
  return eventually(async () => {
    const [payment] = (await client.call(listPayments)).body.entries;
    if (payment?.status !== 'succeeded') throw new Error(`There is ${JSON.stringify(payment)}`);
    return payment;
  });
}

/** Saves a card, as a browser does with the client secret. Resolves with its id once it is the default. */
export async function saveCard(client: Client, card: Card = 'pays'): Promise<string> {
  const { client_secret } = (await client.call(addPaymentMethod)).body;
  const known = (await client.call(listPaymentMethods)).body.map(({ id }) => id);
  const pages = new URL((await openCheckout(client, 'tokens_1000')).url).origin;
  await payAt(`${pages}/setup/${client_secret}`, card);
  return eventually(async () => {
    const found = (await client.call(listPaymentMethods)).body.find(({ id }) => !known.includes(id));
    if (!found?.is_default) throw new Error('The card is not saved yet');
    return found.id;
  });
}
