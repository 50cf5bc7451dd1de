import { command, dryRun } from '../command.ts';
import { eachDatabase, plural, withOperations } from '../each-database.ts';

export const announcePlans = command({
  name: 'announce-plans',
  summary: 'publish all subscriptions once more, so that each account has the limits of its plan',
  help: `Usage: ops announce-plans [--dry-run]

An account gets the limits of its plan by an event of its subscription. This publishes the event again for each
subscription in force, for accounts that subscribed before there were limits. A running worker sends what it publishes.
Running it again changes nothing.

  --dry-run   counts the subscriptions and publishes nothing`,
  service: 'billing',
  options: dryRun,
  async run(call) {
    const { values, say } = call;
    const dry = values['dry-run'];
    return eachDatabase(call, await call.databases(), (database) =>
      withOperations(database, async ({ announceSubscriptions }) => {
        const count = (await announceSubscriptions?.({ dryRun: dry })) ?? 0;
        say(`${plural(count, 'subscription')} ${dry ? 'would be' : count === 1 ? 'is' : 'are'} published`);
        return true;
      }),
    );
  },
});
