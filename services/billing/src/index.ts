import { accountClosed, accountCreated, accountPurged, billingEvents } from '@attribution/contracts';
import { defineService } from '@attribution/service';
import { billingSettings, checkBillingConfig } from './config.ts';
import { housekeeping } from './notifications/index.ts';
import { billingOperations } from './operations.ts';
import { openProvider } from './provider/index.ts';
import { openBilling } from './service.ts';
import { openBillingDatabase } from './store.ts';

/** `open` connects to the payment provider in the configuration. */
export const defineBilling = (open: typeof openProvider) =>
  defineService({
    name: 'billing',
    summary: 'Prices, checkouts, payments, subscriptions, refunds, and the money ledger',
    migrations: new URL('../prisma/migrations', import.meta.url),
    settings: billingSettings,
    check: checkBillingConfig,
    calls: { account: ['api', 'worker'] },
    publishes: [billingEvents],
    handles: [accountCreated, accountPurged, accountClosed],
    deployment: {
      compose: {
        comment:
          'Payments are simulated: the worker plays the provider, and serves its pages; both processes have its file.',
        environment: {
          BILLING_URL: 'http://billing-api:8080',
          ALLOW_SIMULATED_PAYMENTS: 'true',
          SIMULATED_PAYMENTS_URL: 'http://localhost:${PAYMENTS_PORT:-8081}',
          SIMULATED_PAYMENTS_PORT: '8081',
          SIMULATED_PAYMENTS_FILE: '/var/lib/payments/payments.sqlite',
          STRIPE_WEBHOOK_SECRETS: '${STRIPE_WEBHOOK_SECRETS:?is made by npm run compose}',
        },
        volumes: ['payments:/var/lib/payments'],
        ports: { worker: ['127.0.0.1:${PAYMENTS_PORT:-8081}:8081'] },
      },
      kubernetes: {
        egress: [{ name: 'payments', why: 'Payments are made at Stripe', roles: ['api', 'worker'], port: 443 }],
      },
    },
    openDatabase: openBillingDatabase,
    open: (dependencies) => openBilling(dependencies, open),
    purges: housekeeping,
    operations: billingOperations,
  });

export default defineBilling(openProvider);
