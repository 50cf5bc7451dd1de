import { type Clock, createLogger } from '@attribution/runtime';
import type { BillingConfig } from './config.ts';
import { checkLedger } from './ledger/index.ts';
import { findPlanPrices, syncCatalogue } from './prices/index.ts';
import { joinProvider, type PaymentProvider } from './provider/index.ts';
import type { BillingDatabase } from './store.ts';

interface Dependencies {
  readonly database: BillingDatabase;
  readonly clock: Clock;
  /** The configuration, which selects the provider. */
  config(): BillingConfig;
}

/** Operator commands on the ledger and the provider. They run outside the service's processes. */
export function billingOperations({ database, clock, config }: Dependencies) {
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
      withProvider(async (provider) => {
        const { accounts, payments, differences, waiting } = await checkLedger({ database, provider }, { progress });
        const late = `${waiting} notifications of the provider have waited for more than ten minutes`;
        return {
          compared: `${accounts} accounts and ${payments} payments (${provider.name})`,
          faults: [
            ...differences.map(({ accountId, what }) => `${accountId}: ${what}`),
            ...(waiting > 0 ? [late] : []),
          ],
        };
      }),

    planKeys: async () => (await findPlanPrices(database)).map(({ plan_key }) => plan_key),

    syncPrices: () => withProvider((provider) => syncCatalogue({ database, provider })),
  };
}
