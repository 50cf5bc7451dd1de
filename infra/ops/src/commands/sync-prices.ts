import { command, dryRun } from '../command.ts';
import { eachPlace, withOperations } from '../each-place.ts';

export const syncPrices = command({
  name: 'sync-prices',
  summary: 'make the prices of the catalogue at the payment provider',
  help: `Usage: ops sync-prices [--dry-run]

Makes the products and prices of all plans that are sold at the provider, where they are not there; done again it changes
nothing. They are made when they are first needed, too.

  --dry-run   names the plans, and asks the provider nothing`,
  service: 'billing',
  options: dryRun,
  async run(call) {
    const { values, say } = call;
    return eachPlace(call, await call.places(), (place) =>
      withOperations(place, async ({ planKeys, syncPrices: make }) => {
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
