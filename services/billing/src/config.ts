import { RoleSetting, readConfig, setting } from '@attribution/runtime';
import { z } from 'zod';

/** What billing reads besides what every service does. */
export const billingSettings = z.object({
  NODE_ENV: z.string().default('development'),
  ROLE: RoleSetting,
  HOST: z.string().optional(),
  /** With it Stripe moves the money; without it the simulated provider pretends to. */
  STRIPE_SECRET_KEY: z.string().optional(),
  /** Of the webhook endpoint: each is taken, so that they can be rotated. */
  STRIPE_WEBHOOK_SECRETS: setting.list.default([]),
  STRIPE_API_BASE: z.url().optional(),
  /** In production, where nobody should get for nothing what others pay for, it has to be said. */
  ALLOW_SIMULATED_PAYMENTS: setting.flag.default(false),
  /** Where the pages of the simulated provider are, for a browser. */
  SIMULATED_PAYMENTS_URL: z.url({ protocol: /^http$/ }).default('http://127.0.0.1:8081'),
  /** Where it listens, unless that is the port of the URL; on HOST, unless that is the URL's. */
  SIMULATED_PAYMENTS_PORT: setting.port.optional(),
  SIMULATED_PAYMENTS_FILE: z.string().default(':memory:'),
  /** The share of the simulated provider's calls and notifications that get lost, to see what comes of it. */
  SIMULATED_PAYMENTS_FAILURES: z.string().transform(Number).pipe(z.number().min(0).max(1)).default(0),
  /** Where this service is reached by others. */
  BILLING_URL: z.url().optional(),
  PORT: setting.port.default(8080),
  ACCOUNT_URL: z.url(),
  /** Where pages to pay on lead back to, unless whoever asks for one says otherwise. */
  APP_URL: z.url().default('http://localhost:3000'),
  PAYMENT_POLL_MS: setting.count.default(60_000),
});

export type BillingConfig = z.output<typeof billingSettings>;

export function readBillingConfig(environment: Readonly<Record<string, string | undefined>>): BillingConfig {
  const config = readConfig(billingSettings, environment);
  const { NODE_ENV, STRIPE_SECRET_KEY, ALLOW_SIMULATED_PAYMENTS } = config;
  if (NODE_ENV === 'production' && STRIPE_SECRET_KEY === undefined && !ALLOW_SIMULATED_PAYMENTS)
    throw new Error('In production set STRIPE_SECRET_KEY, or ALLOW_SIMULATED_PAYMENTS=true to sell for nothing.');
  if (STRIPE_SECRET_KEY === undefined && config.ROLE !== 'all') requireShared(config);
  return config;
}

/** One process asks the simulated provider, and another plays it. */
function requireShared({ SIMULATED_PAYMENTS_FILE: file, STRIPE_WEBHOOK_SECRETS: secrets }: BillingConfig): void {
  if (file === ':memory:' || secrets.length === 0)
    throw new Error(
      'For simulated payments in several processes set SIMULATED_PAYMENTS_FILE and STRIPE_WEBHOOK_SECRETS.',
    );
}
