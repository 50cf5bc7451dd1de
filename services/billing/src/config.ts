import { setting } from '@attribution/runtime';
import type { ProcessSettings } from '@attribution/service';
import { z } from 'zod';

/** The settings of billing, in addition to those that every service has. */
export const billingSettings = z.object({
  STRIPE_SECRET_KEY: z.string().optional().meta({
    description: '`sk_test_…`, `sk_live_…` or a restricted key; without it payments are simulated',
    secret: true,
    example: 'sample',
  }),
  STRIPE_WEBHOOK_SECRETS: setting.list.default([]).meta({
    description:
      'Comma-joined secrets of the webhook endpoint: any of them signs, so that one can be replaced. ' +
      'Required with `STRIPE_SECRET_KEY`, and for simulated payments where `ROLE` is not `all`',
    secret: true,
    example: 'sample',
  }),
  STRIPE_API_BASE: z
    .url()
    .optional()
    .meta({ description: "Another address that speaks Stripe's API", fallback: '`https://api.stripe.com`' }),
  STRIPE_PACK_PAYMENT_METHODS: setting.list
    .pipe(z.array(z.string().regex(/^[a-z0-9_]+$/)).nonempty())
    .default(['card'])
    .meta({
      description:
        "Comma-joined: what a token pack may be paid with, by Stripe's names, such as `card,us_bank_account,sepa_debit`. " +
        "Each must be switched on in Stripe's dashboard. Subscriptions take cards only",
    }),
  ALLOW_SIMULATED_PAYMENTS: setting.flag.default(false).meta({
    description: 'With `NODE_ENV=production` billing starts without a Stripe key only if this is `true`',
  }),
  SIMULATED_PAYMENTS_URL: z
    .url({ protocol: /^http$/ })
    .default('http://127.0.0.1:8081')
    .meta({ description: "Where the simulated provider's pages are, for a browser; it listens on that port" }),
  SIMULATED_PAYMENTS_PORT: setting.port.optional().meta({
    description: 'Where those pages listen, when a browser reaches them by another port',
    fallback: 'the port of that URL',
  }),
  SIMULATED_PAYMENTS_FILE: z.string().default(':memory:').meta({
    fallback: 'in memory',
    description:
      'The file of what the simulated provider keeps; required with simulated payments where `ROLE` is not `all`',
  }),
  SIMULATED_PAYMENTS_FAILURES: z
    .string()
    .transform(Number)
    .pipe(z.number().min(0).max(1))
    .default(0)
    .meta({ description: 'The share of its calls and notifications that get lost, to see what comes of it' }),
  HOST: z
    .string()
    .optional()
    .meta({ description: 'The address that those pages listen on', fallback: 'the host of that URL' }),
  PORT: setting.port.default(8080).meta({ description: 'Where the service listens' }),
  BILLING_URL: z
    .url()
    .optional()
    .meta({ description: 'Where the simulated provider sends its notifications', fallback: 'its own `PORT`' }),
  APP_URL: z.url().default('http://localhost:3000').meta({
    description: 'The product app, where pages to pay on lead back to unless a checkout says otherwise',
  }),
  RETURN_ORIGINS: setting.list
    .pipe(z.array(z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin)))
    .optional()
    .meta({
      description: 'Comma-joined origins, such as `https://app.example.com`, that a `return_url` may be of',
      fallback: 'the origin of `APP_URL`',
    }),
  REFUND_FRAUD_WARNINGS: setting.flag.default(false).meta({
    description:
      "Whether a payment that its payer's bank suspects to be fraud is refunded at once, before it is disputed",
  }),
  PAYMENT_POLL_MS: setting.count.default(60_000).meta({
    description: "How often the provider's list is read for notifications that never came",
  }),
});

export type BillingConfig = z.output<typeof billingSettings>;

/**
 * Throws in production when payments are simulated without `ALLOW_SIMULATED_PAYMENTS`, because customers would get for
 * free what others pay for.
 */
export function checkBillingConfig(config: BillingConfig, { NODE_ENV, ROLE }: ProcessSettings): void {
  const { STRIPE_SECRET_KEY, ALLOW_SIMULATED_PAYMENTS } = config;
  if (NODE_ENV === 'production' && STRIPE_SECRET_KEY === undefined && !ALLOW_SIMULATED_PAYMENTS)
    throw new Error('In production set STRIPE_SECRET_KEY, or ALLOW_SIMULATED_PAYMENTS=true to sell for nothing.');
  if (STRIPE_SECRET_KEY === undefined && ROLE !== 'all') requireShared(config);
}

/** The api and the worker share the simulated provider, so both must use the same file and the same secret. */
function requireShared({ SIMULATED_PAYMENTS_FILE: file, STRIPE_WEBHOOK_SECRETS: secrets }: BillingConfig): void {
  if (file === ':memory:' || secrets.length === 0)
    throw new Error(
      'For simulated payments in several processes set SIMULATED_PAYMENTS_FILE and STRIPE_WEBHOOK_SECRETS.',
    );
}
