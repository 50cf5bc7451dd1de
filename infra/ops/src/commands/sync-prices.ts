import { command, dryRun } from '../command.ts';
import { eachDatabase, withOperations } from '../each-database.ts';

export const syncPrices = command({
  name: 'sync-prices',
  summary: 'create the prices of the catalogue at the payment provider',
  help: `Usage: ops sync-prices [--dry-run]

Creates the products and prices of all plans on sale that the provider does not have yet; running it again changes nothing.
The service also creates a price when it is first needed.

  --dry-run   lists the plans and sends nothing to the provider`,
  service: 'billing',
  options: dryRun,
  async run(call) {
    const { values, say } = call;
    return eachDatabase(call, await call.databases(), (database) =>
      withOperations(database, async ({ planKeys, syncPrices: make }) => {
        if (values['dry-run']) {
          const keys = (await planKeys?.()) ?? [];
          for (const key of keys) say(key);
          say(`${keys.length} prices would be at the provider`);
          return true;
        }
        const ids = (await make?.()) ?? new Map<string, string>();
        for (const [planKey, id] of ids) say(`${planKey.padEnd(20)} ${id}`);
        say(`${ids.size} prices are at the provider`);
        return true;
      }),
    );
  },
});
