import { createPrivateKey, sign } from 'node:crypto';
import type { RequestListener } from 'node:http';
import {
  type Call,
  createCheckoutSession,
  createRefund,
  getCheckoutSession,
  listMoneyEntries,
  listPayments,
  listRefunds,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, internalToken, startTestService, type TestService, testKeys } from '@attribution/testing';
import { defineBilling } from '../src/index.ts';
import type { PaymentProvider } from '../src/provider/index.ts';
import { createSimulatedProvider, type SimulatedProvider } from '../src/provider/simulated/index.ts';
import { type CardName, send, serve, typed } from './simulated-support.ts';
import { newTenant } from './support.ts';
import { startAccountDouble } from './support-account.ts';

export const webhookSecret = 'whsec_of_the_tests';

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** An owner's token that is still valid when the clock was moved by years. */
function lastingToken(account: string): string {
  const [key] = testKeys.private.keys;
  if (!key) throw new Error('There is no key to sign with');
  const exp = Math.floor(Date.now() / 1000) + 10 * 365 * 86_400;
  const registered = { iss: 'attribution-platform', aud: 'attribution-platform', exp };
  const claims = { sub: newId('user'), account, role: 'owner', account_type: 'network' };
  const text = `${encode({ alg: 'ES256', typ: 'at+jwt', kid: key.kid })}.${encode({ ...claims, ...registered })}`;
  const signer = { key: createPrivateKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const;
  return `${text}.${sign('sha256', Buffer.from(text), signer).toString('base64url')}`;
}

interface Options {
  /** Wraps the simulated provider, for example with faults or with a recorder. */
  readonly between?: (provider: PaymentProvider) => PaymentProvider;
  readonly environment?: Readonly<Record<string, string>>;
  /** By default only `settle` delivers notifications; `false` means never. */
  readonly webhooks?: boolean;
}

/** Billing with the simulated provider: they share a clock, pages are filled in, and webhooks are delivered. */
export async function startMoney({ between = (provider) => provider, environment, webhooks = true }: Options = {}) {
  const account = await startAccountDouble();
  let app: RequestListener = (_req, res) => res.writeHead(503).end();
  const pages = await serve((req, res) => app(req, res));
  let simulated: SimulatedProvider | undefined;
  let webhookUrl = 'http://127.0.0.1:1';
  const service: TestService = await startTestService(
    defineBilling((_config, { clock, logger }) => {
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
    { environment: { ACCOUNT_URL: account.url, PAYMENT_POLL_MS: '3600000', ...environment } },
  );
  webhookUrl = `${service.url}/webhooks/stripe`;
  const { provider, tick } = simulated as unknown as SimulatedProvider;

  /** Lets time pass at the provider, and waits until all its notifications are applied. */
  async function settle(): Promise<void> {
    await tick();
    await eventually(async () => {
      const { rows } = await service.db.query('SELECT error FROM provider_events WHERE due_at IS NOT NULL');
      if (rows.length > 0) throw new Error(`${rows.length} notifications wait: ${JSON.stringify(rows[0])}`);
    });
  }

  async function newCustomer() {
    const tenant = newTenant(service);
    await tenant.open();
    return { ...tenant, owner: service.client.with({ token: lastingToken(tenant.account) }) };
  }
  type Tenant = Awaited<ReturnType<typeof newCustomer>>;
  async function checkout(tenant: Tenant, plan_key: string): Promise<{ id: string; url: string }> {
    const mode = plan_key.startsWith('tokens') ? 'payment' : 'subscription';
    return (await tenant.owner.call(createCheckoutSession, { body: { mode, plan_key } })).body;
  }
  const paymentsOf = async (tenant: Tenant) => (await tenant.owner.call(listPayments)).body.entries;
  const pay = (page: { readonly url: string }, card: CardName = 'succeeds') => send(page.url, typed(card));

  /** Buys, pays, and waits until it has taken effect. */
  async function buy(tenant: Tenant, plan_key: string, card: CardName = 'succeeds') {
    const page = await checkout(tenant, plan_key);
    await pay(page, card);
    await settle();
    return (await tenant.owner.call(getCheckoutSession, { params: { id: page.id } })).body;
  }

  return {
    ...service,
    account,
    /** The simulated provider itself, without the wrapper. */
    provider,
    tick,
    settle,
    checkout,
    pay,
    saveCard: (clientSecret: string, card: CardName) => send(`${pages.url}/setup/${clientSecret}`, typed(card)),
    /** A new account, opened. */
    newTenant: newCustomer,
    /** Another service of the platform. */
    internal: service.client.with({ token: () => internalToken('billing', 'billing') }),
    /** Requests a refund as another service does; by default of the tenant's latest payment. */
    async refund(tenant: Tenant, asked: Partial<RefundBody> = {}, headers: Readonly<Record<string, string>> = {}) {
      const payment_id = asked.payment_id ?? (await paymentsOf(tenant))[0]?.id ?? '';
      const body = { account_id: tenant.account, idempotency_key: crypto.randomUUID(), ...asked, payment_id };
      return service.client.with({ token: internalToken('billing', 'billing'), headers }).call(createRefund, { body });
    },
    paymentsOf,
    refundsOf: async (tenant: Tenant) => (await tenant.owner.call(listRefunds)).body.entries,
    entriesOf: async (tenant: Tenant) => (await tenant.owner.call(listMoneyEntries)).body.entries,
    /** Waits until this many events were published for the tenant, and returns them. */
    events: (tenant: Tenant, count: number) =>
      eventually(() => {
        const events = service.published.filter(({ account_id }) => account_id === tenant.account);
        if (events.length < count) throw new Error(`Published so far: ${events.map(({ type }) => type)}`);
        return events;
      }),
    /** All events of the tenant, once none waits to be published. */
    async allEvents(tenant: Tenant) {
      await eventually(async () => {
        const { rowCount } = await service.db.query('SELECT FROM outbox');
        if (rowCount !== 0) throw new Error(`${rowCount} events wait`);
      });
      return service.published.filter(({ account_id }) => account_id === tenant.account);
    },
    /** Rows of the service's own database. */
    rows: async (sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
      (await service.db.query(sql, values)).rows,
    buy,
    /** A new account that has paid for something. */
    async newBuyer(plan_key = 'tokens_1000') {
      const tenant = await newCustomer();
      await buy(tenant, plan_key);
      return tenant;
    },
    async stop() {
      await service.stop();
      await pages.close();
      await account.stop();
    },
  };
}

type RefundBody = NonNullable<Call<typeof createRefund>['body']>;
export type Money = Awaited<ReturnType<typeof startMoney>>;
export type Tenant = Awaited<ReturnType<Money['newTenant']>>;
