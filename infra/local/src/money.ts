import { runMoneyCommand } from '@attribution/billing';
import { readRunning } from './running.ts';

/**
 * `npm run money -- check`: compares ledger, payments, refunds and provider, and prints what differs; exit code 1 if
 * something does. `… sync-prices`: makes the catalogue's prices at the provider.
 * Of the running `npm start`, or of the database in DATABASE_URL.
 */
const running = process.env.DATABASE_URL ? {} : await readRunning(process.env.LOCAL_DIR ?? '.local', 'billing');
process.exitCode = await runMoneyCommand(process.argv.slice(2), { ...running, ...process.env });
