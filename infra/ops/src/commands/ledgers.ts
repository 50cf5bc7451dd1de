import { command } from '../command.ts';
import { eachPlace, plural, withOperations } from '../each-place.ts';
import { misused } from '../refusal.ts';

/** Milliseconds between two lines of how far it is. */
const tellEvery = 2_000;

export const ledgers = command({
  name: 'ledgers',
  summary: 'compare what should agree: tokens, and money with what the provider says',
  help: `Usage: ops ledgers [service]

account: each balance against its ledger entries, grants and holds. billing: ledger, payments and refunds against each
other and against what the payment provider says (STRIPE_SECRET_KEY, or SIMULATED_PAYMENTS_FILE). What differs is printed,
by account. Changes nothing; for every night.`,
  options: {},
  async run(call) {
    const { say, note, service: named } = call;
    let checked = 0;
    const good = await eachPlace(call, await call.places(), ({ service, ...place }) =>
      withOperations({ service, ...place }, async ({ checkLedger }) => {
        if (!checkLedger) return true;
        checked++;
        let told = performance.now();
        const { compared, faults } = await checkLedger((accounts) => {
          if (performance.now() - told < tellEvery) return;
          told = performance.now();
          note(`· ${service}: ${accounts} accounts compared`);
        });
        for (const fault of faults) say(`${service}: ${fault}`);
        const outcome = faults.length === 0 ? 'no difference' : plural(faults.length, 'difference');
        say(`${service}: ${compared}: ${outcome}`);
        return faults.length === 0;
      }),
    );
    if (good && checked === 0) throw misused(`${named ?? 'What is known here'} keeps no ledger.`);
    return good;
  },
});
