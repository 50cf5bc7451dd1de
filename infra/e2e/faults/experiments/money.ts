import type { Experiment, Finding, Lab } from '../experiment.ts';
import { openBank } from '../money/bank.ts';
import { checkByCommand, comeToRest, compareTokens } from '../money/books.ts';
import { createCustomer } from '../money/customer.ts';

const accounts = 12;
/** Of the provider's calls and notifications. */
const failures = 0.08;
/** After so many operations time leaps. */
const leapEvery = 100;

/**
 * Customers who buy, subscribe, change their minds and get money back, while the payment provider loses calls, answers and
 * notifications, and months go by. In the end everything that was paid is in the books once, and the tokens are there.
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
