import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { newUuid } from '@attribution/ids';

export const webhookSecret = 'whsec_bench';

/** A notification like Stripe's: a payment with its details, about 1.3 kB. */
const bodyOf = (id: string) =>
  JSON.stringify({
    id: `evt_${id}`,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    type: 'payment_intent.succeeded',
    data: {
      object: {
        id: `pi_${id}`,
        object: 'payment_intent',
        amount: 7_900,
        amount_received: 7_900,
        automatic_payment_methods: { allow_redirects: 'always', enabled: true },
        currency: 'usd',
        customer: `cus_${id}`,
        description: '10,000 tokens, bought on the page of a checkout by somebody who looks after the bills',
        latest_charge: `ch_${id}`,
        metadata: { account_id: `acc_${id}`, plan_key: 'tokens_10000', reference: `cs_${id}` },
        payment_method: `pm_${id}`,
        payment_method_types: ['card', 'link', 'cashapp'],
        payment_method_options: { card: { installments: null, mandate_options: null, network: null } },
        receipt_email: 'somebody.who.looks.after.the.bills@example.com',
        shipping: {
          address: { city: 'Zürich', country: 'CH', line1: 'Main Street 1', postal_code: '8000' },
          name: 'Ada',
        },
        status: 'succeeded',
      },
    },
    pending_webhooks: 1,
    request: { id: `req_${id}`, idempotency_key: id },
  });

/** Writes signed notifications to a file: lines with a signature and a body in turn. */
export async function writeNotifications(file: string, count: number): Promise<void> {
  const time = Math.floor(Date.now() / 1000);
  const lines: string[] = [];
  for (let n = 0; n < count; n++) {
    const body = bodyOf(newUuid());
    const digest = createHmac('sha256', webhookSecret).update(`${time}.${body}`).digest('hex');
    lines.push(`t=${time},v1=${digest}`, body);
  }
  await writeFile(file, `${lines.join('\n')}\n`);
}

/** A Lua script for wrk that sends the notifications of such a file in turn. */
export const sendingFrom = (file: string) => `
local signatures, bodies, n = {}, {}, 0
local file = io.open('${file}')
while true do
  local signature = file:read('*l')
  if not signature then break end
  signatures[#signatures + 1] = signature
  bodies[#bodies + 1] = file:read('*l')
end
function request()
  n = n % #bodies + 1
  return wrk.format('POST', '/webhooks/stripe',
    { ['stripe-signature'] = signatures[n], ['content-type'] = 'application/json' }, bodies[n])
end`;
