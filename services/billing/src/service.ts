import { ledgerCheck, type OpenDependencies, type ServiceContents } from '@attribution/service';
import * as checkouts from './checkouts/index.ts';
import * as closing from './closing/index.ts';
import type { BillingConfig } from './config.ts';
import { getBillingSummaryEndpoint, onAccountCreated, onAccountPurged } from './customers/index.ts';
import { checkedLedger, listMoneyEntriesEndpoint } from './ledger/index.ts';
import * as notifications from './notifications/index.ts';
import * as methods from './payment-methods/index.ts';
import { getPaymentEndpoint, listPaymentsEndpoint } from './payments/index.ts';
import { getUsagePriceEndpoint, listPlanPricesEndpoint, listUsagePricesEndpoint } from './prices/index.ts';
import { type ProviderDependencies, type ProviderRuntime, withLoggedFailures } from './provider/index.ts';
import { createRefresh, createWriteFor } from './refresh/index.ts';
import * as refunds from './refunds/index.ts';
import type { BillingDatabase, Tx } from './store.ts';
import * as subscriptions from './subscriptions/index.ts';

const second = 1_000;

type BillingDependencies = OpenDependencies<BillingDatabase, BillingConfig, 'account'>;

/** The composition root. */
export function openBilling(
  dependencies: BillingDependencies,
  open: (config: BillingConfig, deps: ProviderDependencies) => ProviderRuntime,
): ServiceContents<Tx> {
  const { config, database, outbox, clock, logger, registry, role, problemBase } = dependencies;
  const { account } = dependencies.clients;
  const runtime = open(config, { clock, logger, problemBase });
  const provider = withLoggedFailures(runtime.provider, logger);

  const writeFor = createWriteFor({ database, outbox, clock });
  const refresh = createRefresh({
    database,
    provider,
    writeFor,
    logger,
    refundsFraudWarnings: config.REFUND_FRAUD_WARNINGS,
  });
  const wake = () => dependencies.wake(notifications.applyJob);
  const subscribing = { database, provider, refresh, writeFor, clock };
  const refunding = { database, provider, refresh, writeFor, account, clock, logger };

  return {
    implementations: [
      getBillingSummaryEndpoint(database),
      listPlanPricesEndpoint(database),
      listUsagePricesEndpoint(database),
      getUsagePriceEndpoint(database),
      checkouts.createCheckoutSessionEndpoint({ database, provider, refresh, clock, ...returnsOf(config) }),
      checkouts.getCheckoutSessionEndpoint(database),
      listPaymentsEndpoint(database),
      getPaymentEndpoint(database),
      refunds.listRefundsEndpoint(database),
      refunds.getRefundEndpoint(database),
      refunds.createRefundEndpoint(refunding),
      subscriptions.cancelSubscriptionEndpoint(subscribing),
      subscriptions.resumeSubscriptionEndpoint(subscribing),
      subscriptions.changePlanEndpoint(subscribing),
      listMoneyEntriesEndpoint(database),
      methods.listPaymentMethodsEndpoint(database, provider),
      methods.addPaymentMethodEndpoint({ database, provider, clock }),
      methods.removePaymentMethodEndpoint(database, provider),
      notifications.receiveStripeWebhookEndpoint({ database, provider, clock, wake }),
    ],
    handlers: [onAccountCreated, onAccountPurged, closing.onAccountClosed],
    jobs: [
      {
        name: notifications.applyJob,
        every: second,
        run: () => notifications.applyEvents({ database, refresh, clock, logger }),
      },
      {
        name: 'reconcile-provider-events',
        every: config.PAYMENT_POLL_MS,
        run: () => notifications.reconcile({ database, provider, clock, wake }),
      },
      ledgerCheck({
        ...{ service: 'billing', sql: database.sql, clock, registry, logger },
        check: (signal) => checkedLedger({ database, provider }, { signal }),
      }),
      { name: 'finish-refunds', every: 2 * second, run: () => refunds.finishRefunds(refunding) },
      {
        name: 'end-left-overs',
        every: 5 * second,
        run: () => closing.endLeftOvers({ database, provider, refresh, logger }),
      },
    ],
    start() {
      // Every process calls the provider, but a simulated one is run by the worker only.
      if (role !== 'api') runtime.start();
    },
    drain: () => runtime.stop(),
  };
}

const returnsOf = ({ APP_URL, RETURN_ORIGINS = [new URL(APP_URL).origin] }: BillingConfig) => ({
  appUrl: APP_URL,
  returnOrigins: RETURN_ORIGINS,
});
