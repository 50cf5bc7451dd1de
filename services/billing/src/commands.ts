import { createLogger, readConfig } from '@attribution/service';
import { z } from 'zod';
import { readBillingConfig } from './config.ts';
import { checkLedger } from './ledger/index.ts';
import { syncCatalogue } from './prices/index.ts';
import { joinProvider, type PaymentProvider } from './provider/index.ts';
import { type BillingDatabase, openBillingDatabase } from './store.ts';

interface Parts {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  /** A line of the result. */
  readonly say: (line: string) => void;
  /** A line of how far it is. */
  readonly note: (line: string) => void;
}

/** Each answers whether all is well. */
const commands = {
  async check({ database, provider, say, note }: Parts): Promise<boolean> {
    const progress = (accounts: number) => note(`· ${accounts} accounts compared`);
    const { accounts, payments, differences, waiting } = await checkLedger({ database, provider }, { progress });
    for (const { accountId, what } of differences) say(`${accountId}: ${what}`);
    if (waiting > 0) say(`${waiting} notifications of the provider have waited for more than ten minutes`);
    const outcome = differences.length === 0 ? 'no difference' : `${differences.length} differences`;
    say(`${accounts} accounts and ${payments} payments (${provider.name}): ${outcome}`);
    return differences.length === 0 && waiting === 0;
  },
  async 'sync-prices'({ database, provider, say }: Parts): Promise<boolean> {
    const ids = await syncCatalogue({ database, provider });
    for (const [planKey, id] of ids) say(`${planKey.padEnd(20)} ${id}`);
    say(`${ids.size} prices are at the provider (${provider.name})`);
    return true;
  },
};

/** The commands of whoever answers for the money; resolves with the exit code. */
export async function runMoneyCommand(
  [name]: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const note = (line: string) => void process.stderr.write(`${line}\n`);
  const command = Object.hasOwn(commands, name ?? '') ? commands[name as keyof typeof commands] : undefined;
  if (!command) {
    note(`Usage: npm run money -- ${Object.keys(commands).join('|')}`);
    return 2;
  }
  const { DATABASE_URL } = readConfig(z.object({ DATABASE_URL: z.url() }), environment);
  // What it asks no one for need not be set.
  const config = readBillingConfig({ ACCOUNT_URL: 'http://127.0.0.1:1', ...environment });
  const logger = createLogger({ name: 'money', level: 'warn', pretty: true });
  const { provider, stop } = joinProvider(config, { clock: { now: () => new Date() }, logger, problemBase: '' });
  const database = openBillingDatabase(DATABASE_URL);
  try {
    return (await command({ database, provider, say, note })) ? 0 : 1;
  } finally {
    await Promise.all([stop(), database.close()]);
  }
}
