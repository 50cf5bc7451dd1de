import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { listen, type RunningServer } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import type { ServiceDependencies } from '@attribution/service';
import type { BillingConfig } from '../config.ts';
import type { PaymentProvider } from './payment-provider.ts';
import { createSimulatedProvider } from './simulated/index.ts';
import { createStripeProvider } from './stripe/index.ts';

export interface ProviderRuntime {
  readonly provider: PaymentProvider;
  start(): void;
  stop(): Promise<void>;
}

export interface ProviderDependencies extends Pick<ServiceDependencies, 'logger' | 'problemBase'> {
  readonly clock: Clock;
}

/** Opens the provider in the configuration, for a service's process. */
export function openProvider(config: BillingConfig, deps: ProviderDependencies): ProviderRuntime {
  const stripe = openStripe(config, deps);
  if (stripe && config.STRIPE_WEBHOOK_SECRETS.length === 0)
    throw new Error('Set STRIPE_WEBHOOK_SECRETS: without it no notification of Stripe could be taken.');
  return stripe ?? openSimulated(config, deps);
}

/** Opens the provider for an operator's command, which serves no pages and delivers no notifications. */
export function joinProvider(
  config: BillingConfig,
  deps: ProviderDependencies,
): Pick<ProviderRuntime, 'provider' | 'stop'> {
  const stripe = openStripe(config, deps);
  if (stripe) return stripe;
  const { SIMULATED_PAYMENTS_FILE: file, SIMULATED_PAYMENTS_URL: url } = config;
  if (!existsSync(file)) throw new Error(`The simulated payments have no file ${file}: set SIMULATED_PAYMENTS_FILE`);
  return createSimulatedProvider({ file, clock: deps.clock, baseUrl: () => url, logger: deps.logger });
}

function openStripe(config: BillingConfig, { clock }: ProviderDependencies): ProviderRuntime | undefined {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_API_BASE: apiBase, STRIPE_WEBHOOK_SECRETS: webhookSecrets } = config;
  if (secretKey === undefined) return undefined;
  const packMethods = config.STRIPE_PACK_PAYMENT_METHODS;
  const provider = createStripeProvider({ secretKey, apiBase, webhookSecrets, packMethods, now: () => clock.now() });
  return { provider, start() {}, stop: async () => {} };
}

/** The simulated provider, with a server for its pages. */
function openSimulated(config: BillingConfig, { clock, logger, problemBase }: ProviderDependencies): ProviderRuntime {
  const pages = new URL(config.SIMULATED_PAYMENTS_URL);
  const own = config.BILLING_URL ?? `http://127.0.0.1:${config.PORT}`;
  // The provider sends notifications to its own process, so without configured secrets a random one is enough.
  const secrets = config.STRIPE_WEBHOOK_SECRETS;
  const simulated = createSimulatedProvider({
    file: config.SIMULATED_PAYMENTS_FILE,
    clock,
    baseUrl: () => pages.href,
    failures: config.SIMULATED_PAYMENTS_FAILURES,
    webhook: {
      url: `${own}/webhooks/stripe`,
      secrets: secrets.length > 0 ? secrets : [randomBytes(24).toString('base64url')],
    },
    logger,
  });
  let server: Promise<RunningServer | undefined> | undefined;
  return {
    provider: simulated.provider,
    start() {
      simulated.start();
      const port = config.SIMULATED_PAYMENTS_PORT ?? Number(pages.port);
      const where = { host: config.HOST ?? pages.hostname, port, problemBase };
      server = listen(simulated.app, where).then(
        (running) => {
          if (port === Number(pages.port)) pages.port = String(running.port);
          return running;
        },
        (error: unknown) => {
          logger.error({ err: error, url: pages.href }, 'The pages of the simulated payments cannot be served');
          return undefined;
        },
      );
    },
    async stop() {
      await simulated.stop();
      await (await server)?.close(Date.now() + 500);
    },
  };
}
