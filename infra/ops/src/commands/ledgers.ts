import { command } from '../command.ts';
import { eachDatabase, plural, withOperations } from '../each-database.ts';
import { notesProgress } from '../progress.ts';
import { misused } from '../refusal.ts';

export const ledgers = command({
  name: 'ledgers',
  summary: 'check that the token and money ledgers agree with balances and with the payment provider',
  help: `Usage: ops ledgers [service]

account: compares each balance with its ledger entries, grants and holds. billing: compares ledger, payments, refunds and
disputes with each other and with the payment provider (STRIPE_SECRET_KEY, or SIMULATED_PAYMENTS_FILE). Prints each
difference with its account. Changes nothing. A job of each of them does the same once a day.`,
  options: {},
  async run(call) {
    const { say, note, service: named } = call;
    let checked = 0;
    const good = await eachDatabase(call, await call.databases(), ({ service, ...database }) =>
      withOperations({ service, ...database }, async ({ checkLedger }) => {
        if (!checkLedger) return true;
        checked++;
        const progress = notesProgress(note);
        const { compared, faults } = await checkLedger((accounts) =>
          progress(() => `· ${service}: ${accounts} accounts compared`),
        );
        for (const fault of faults) say(`${service}: ${fault}`);
        const outcome = faults.length === 0 ? 'no difference' : plural(faults.length, 'difference');
        say(`${service}: ${compared}: ${outcome}`);
        return faults.length === 0;
      }),
    );
    if (good && checked === 0)
      throw misused(named ? `${named} keeps no ledger.` : 'None of these services keeps a ledger.');
    return good;
  },
});
