import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSimulatedProvider } from '../src/provider/simulated/index.ts';

/**
 * A process of the simulated provider whose customers never stop. It prints each id after the provider has returned
 * it.
 */
const [file = ''] = process.argv.slice(2);
let app: RequestListener = () => {};
const server = createServer((req, res) => app(req, res));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const quiet = { warn() {}, error() {} } as unknown as Parameters<typeof createSimulatedProvider>[0]['logger'];
const simulated = createSimulatedProvider({
  file,
  clock: { now: () => new Date() },
  baseUrl: () => url,
  logger: quiet,
});
({ app } = simulated);
simulated.start();

const { provider } = simulated;
const price = (plan_key: string, amount_cents: number, interval: 'month' | null) => {
  return { plan_key, name: plan_key, amount_cents, currency: 'usd', interval };
};
const [pack, small, large] = [
  price('pack', 900, null),
  price('small', 4_900, 'month'),
  price('large', 19_900, 'month'),
];
const key = () => crypto.randomUUID();
const say = (id: string | null) => process.stdout.write(`${id}\n`);

async function buy(customerId: string, bought: typeof pack) {
  const mode = bought.interval === null ? ('payment' as const) : ('subscription' as const);
  const ours = { returnUrl: 'https://app.example/', reference: 'cs_1', accountId: 'acc_1' };
  const { id, url: page } = await provider.createCheckout({ customerId, mode, price: bought, ...ours }, key());
  const body = new URLSearchParams({ action: 'use:succeeds' });
  await fetch(page ?? '', { method: 'POST', body, redirect: 'manual' });
  say(id);
  return provider.getCheckout(id);
}

async function live() {
  const { id } = await provider.createCustomer({ accountId: 'acc_1', name: 'Acme' }, key());
  const { payment_id } = await buy(id, pack);
  const refund = { paymentId: payment_id ?? '', amountCents: 300, reason: 'duplicate' as const, reference: 'ref_1' };
  say((await provider.createRefund(refund, key())).id);
  const { subscription_id } = await buy(id, small);
  const subscriptionId = subscription_id ?? '';
  const change = { subscriptionId, fromPlanKey: small.plan_key, price: large, type: 'upgrade' as const };
  say((await provider.changePlan(change, key())).id);
}

await Promise.all(
  [1, 2, 3].map(async () => {
    for (;;) await live();
  }),
);
