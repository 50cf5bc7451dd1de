import type { RequestListener } from 'node:http';
import { createCheckoutSession, getCheckoutSession } from '@attribution/contracts';
import { eventually, startTestService, type TestService } from '@attribution/testing';
import { createBillingService } from '../src/index.ts';
import type { PaymentProvider } from '../src/provider/index.ts';
import { createSimulatedProvider, type SimulatedProvider } from '../src/provider/simulated/index.ts';
import { type CardName, send, serve, typed } from './simulated-support.ts';
import { newTenant } from './support.ts';
import { startAccountDouble } from './support-account.ts';

export const webhookSecret = 'whsec_of_the_tests';

interface Options {
  /** What stands between the service and the simulated provider: faults, or somebody who listens. */
  readonly between?: (provider: PaymentProvider) => PaymentProvider;
  readonly environment?: Readonly<Record<string, string>>;
  /** Notifications are sent by `settle` alone unless told otherwise; `false`: never. */
  readonly webhooks?: boolean;
}

/** Billing with the simulated provider: one clock for both, pages that somebody fills in, webhooks that are delivered. */
export async function startMoney({ between = (provider) => provider, environment, webhooks = true }: Options = {}) {
  const account = await startAccountDouble();
  let app: RequestListener = (_req, res) => res.writeHead(503).end();
  const pages = await serve((req, res) => app(req, res));
  let simulated: SimulatedProvider | undefined;
  let webhookUrl = 'http://127.0.0.1:1';
  const service: TestService = await startTestService(
    'billing',
    (parts, env) =>
      createBillingService(parts, env, (_config, { clock, logger }) => {
        const target = {
          secrets: [webhookSecret],
          get url() {
            return webhookUrl;
          },
        };
        const baseUrl = () => pages.url;
        simulated = createSimulatedProvider({
          file: ':memory:',
          clock,
          baseUrl,
          logger,
          ...(webhooks && { webhook: target }),
        });
        ({ app } = simulated);
        return { provider: between(simulated.provider), start() {}, stop: simulated.stop };
      }),
    { environment: { ACCOUNT_URL: account.url, ...environment } },
  );
  webhookUrl = `${service.url}/webhooks/stripe`;
  const { provider, tick } = simulated as unknown as SimulatedProvider;

  /** Lets time pass at the provider, and everything it tells take effect. */
  async function settle(): Promise<void> {
    await tick();
    await eventually(async () => {
      const { rows } = await service.db.query('SELECT error FROM provider_events WHERE due_at IS NOT NULL');
      if (rows.length > 0) throw new Error(`${rows.length} notifications wait: ${JSON.stringify(rows[0])}`);
    });
  }

  type Tenant = ReturnType<typeof newTenant>;
  async function checkout(tenant: Tenant, plan_key: string): Promise<{ id: string; url: string }> {
    const mode = plan_key.startsWith('tokens') ? 'payment' : 'subscription';
    return (await tenant.owner.call(createCheckoutSession, { body: { mode, plan_key } })).body;
  }
  const pay = (page: { readonly url: string }, card: CardName = 'succeeds') => send(page.url, typed(card));

  return {
    ...service,
    account,
    /** The provider itself, past what stands between. */
    provider,
    tick,
    settle,
    checkout,
    pay,
    saveCard: (clientSecret: string, card: CardName) => send(`${pages.url}/setup/${clientSecret}`, typed(card)),
    /** A new account, opened. */
    async newTenant() {
      const tenant = newTenant(service);
      await tenant.open();
      return tenant;
    },
    /** Buys, pays, and waits until it has taken effect. */
    async buy(tenant: Tenant, plan_key: string, card: CardName = 'succeeds') {
      const page = await checkout(tenant, plan_key);
      await pay(page, card);
      await settle();
      return (await tenant.owner.call(getCheckoutSession, { params: { id: page.id } })).body;
    },
    async stop() {
      await service.stop();
      await pages.close();
      await account.stop();
    },
  };
}

export type Money = Awaited<ReturnType<typeof startMoney>>;
