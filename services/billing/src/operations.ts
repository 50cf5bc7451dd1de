import { type Clock, createLogger } from '@attribution/runtime';
import { readBillingConfig } from './config.ts';
import { checkLedger } from './ledger/index.ts';
import { housekeeping } from './notifications/index.ts';
import { findPlanPrices, syncCatalogue } from './prices/index.ts';
import { joinProvider, type PaymentProvider } from './provider/index.ts';
import { openBillingDatabase } from './store.ts';

interface Parts {
  readonly url: string;
  readonly clock: Clock;
  /** Names the provider. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What is asked of this service's database, and of the provider, beside the running service, by whoever looks after it. */
export function openOperations({ url, clock, environment }: Parts) {
  const database = openBillingDatabase(url);

  async function withProvider<T>(work: (provider: PaymentProvider) => Promise<T>): Promise<T> {
    // What it asks no one for need not be set.
    const config = readBillingConfig({ ACCOUNT_URL: 'http://127.0.0.1:1', ...environment });
    const logger = createLogger({ name: 'billing', level: 'warn', pretty: true });
    const { provider, stop } = joinProvider(config, { clock, logger, problemBase: '' });
    try {
      return await work(provider);
    } finally {
      await stop();
    }
  }

  return {
    close: () => database.close(),

    /** By the names of the jobs that do the same in their turn. */
    purges: housekeeping({ database, clock }),

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

    /** The plans that are sold. */
    planKeys: async () => (await findPlanPrices(database)).map(({ plan_key }) => plan_key),

    /** Makes their prices at the provider; answers its ids by plan key. Done again it changes nothing. */
    syncPrices: () => withProvider((provider) => syncCatalogue({ database, provider })),
  };
}
