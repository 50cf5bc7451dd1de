import { newUuid } from '@attribution/ids';
import { signWebhook } from '../src/provider/signature.ts';
import { type Money, webhookSecret } from './support-money.ts';

/** A notification as the provider sends it. */
export const notification = (type: string, object: object, over: object = {}) =>
  JSON.stringify({
    id: `evt_${newUuid()}`,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    type,
    data: { object },
    ...over,
  });

export const secondsOf = ({ clock }: Money) => Math.floor(clock.now().getTime() / 1000);

/** Sends a body to the webhook, signed as the provider signs it unless a signature is given; null means unsigned. */
export async function sendWebhook(
  money: Money,
  body: string | Buffer,
  signature?: string | null,
  given: Readonly<Record<string, string>> = {},
) {
  const signed = signature === undefined ? signWebhook(body, [webhookSecret], secondsOf(money)) : signature;
  const answer = await fetch(`${money.url}/webhooks/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...given, ...(signed !== null && { 'stripe-signature': signed }) },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  return { status: answer.status, text: await answer.text() };
}

/** The stored notifications, by their object. */
export const eventsOf = (money: Money, objectId: string) =>
  money.rows('SELECT id, attempts, due_at, error FROM provider_events WHERE object_id = $1', objectId);
