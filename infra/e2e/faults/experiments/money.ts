import type { Experiment, Finding, Lab } from '../experiment.ts';
import { openBank } from '../money/bank.ts';
import { checkByCommand, comeToRest, compareTokens } from '../money/books.ts';
import { createCustomer } from '../money/customer.ts';

const accounts = 12;
/** The share of the provider's calls and notifications that fail. */
const failures = 0.08;
/** The clock leaps after so many operations. */
const leapEvery = 100;

/**
 * Customers buy, subscribe, change plans and get refunds over several months, while the payment provider loses calls,
 * responses and notifications. In the end every payment has been entered once and its tokens have been granted.
 */
export const money: Experiment = {
  name: 'money at random',
  rounds: { short: 300, long: 10_000 },
  async run(lab) {
    const bank = await openBank(failures);
    try {
      const opened = await Promise.all(Array.from({ length: accounts }, () => bank.openAccount()));
      const customers = opened.map((account) => createCustomer(bank, account, lab.chance));
      let done = 0;
      const leap = () => bank.clock.advance({ minutes: lab.chance.int(1, 12 * 24 * 60) });
      await Promise.all(
        customers.map(async ({ act }) => {
          while (done < lab.rounds) {
            done++;
            if (done % leapEvery === 0) leap();
            if (done % 1_000 === 0) lab.say(`  ${done} operations`);
            await act();
          }
        }),
      );
      await comeToRest(bank);
      return [await judge(lab)];
    } finally {
      await bank.close();
    }

    async function judge({ rounds, say }: Lab): Promise<Finding> {
      const [{ code, output }, tokens] = await Promise.all([checkByCommand(bank), compareTokens(bank)]);
      for (const line of [...output.split('\n'), ...tokens]) say(`  ${line}`);
      const last = output.split('\n').at(-1);
      return {
        what: `money: random operations of ${accounts} accounts, ${failures * 100} % of the provider's calls and notifications lost`,
        tried: rounds,
        found: `${last}; tokens that differ ${tokens.length}`,
        bar: 'no difference, 0',
        holds: code === 0 && tokens.length === 0,
      };
    }
  },
};
