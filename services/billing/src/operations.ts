import type { Outbox } from '@attribution/messaging';
import { type Clock, createLogger } from '@attribution/runtime';
import type { BillingConfig } from './config.ts';
import { checkedLedger } from './ledger/index.ts';
import { findPlanPrices, syncCatalogue } from './prices/index.ts';
import { joinProvider, type PaymentProvider } from './provider/index.ts';
import { createWriteFor } from './refresh/index.ts';
import type { BillingDatabase } from './store.ts';
import { announceSubscriptions } from './subscriptions/index.ts';

interface Dependencies {
  readonly database: BillingDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** The configuration, which selects the provider. */
  config(): BillingConfig;
}

/** Operator commands on the ledger and the provider. They run outside the service's processes. */
export function billingOperations({ database, outbox, clock, config }: Dependencies) {
  async function withProvider<T>(work: (provider: PaymentProvider) => Promise<T>): Promise<T> {
    const logger = createLogger({ name: 'billing', level: 'warn', pretty: true });
    const { provider, stop } = joinProvider(config(), { clock, logger, problemBase: '' });
    try {
      return await work(provider);
    } finally {
      await stop();
    }
  }

  return {
    checkLedger: (progress: (accounts: number) => void) =>
      withProvider((provider) => checkedLedger({ database, provider }, { progress })),

    planKeys: async () => (await findPlanPrices(database)).map(({ plan_key }) => plan_key),

    announceSubscriptions: (options: { readonly dryRun: boolean }) =>
      announceSubscriptions({ database, writeFor: createWriteFor({ database, outbox, clock }) }, options),

    syncPrices: () => withProvider((provider) => syncCatalogue({ database, provider })),
  };
}
