import { fileURLToPath } from 'node:url';
import { migrate as applyMigrations, EditedMigration, missingMigrations } from '@attribution/database';
import { loadService } from '@attribution/registry';
import { command, dryRun } from '../command.ts';
import { eachPlace, plural } from '../each-place.ts';
import { Refusal } from '../refusal.ts';

export const migrate = command({
  name: 'migrate',
  summary: 'bring databases up to date; --dry-run: what is pending',
  help: `Usage: ops migrate [service] [--dry-run]

Applies the migrations that each database has not had yet, each whole or not at all, under a lock: it may run on several
machines at once, and beside processes that serve. Refused where a migration was edited after a database had it.

  --dry-run   names what is pending, and applies nothing`,
  options: dryRun,
  async run(call) {
    const { values, say, note } = call;
    return eachPlace(call, await call.places(), async ({ service, url }) => {
      const directory = fileURLToPath((await loadService(service)).migrations);
      const pending = await missingMigrations({ url, directory }).catch(refuseEdited);
      say(`${service}: ${pending.length === 0 ? 'up to date' : `${plural(pending.length, 'migration')} pending`}`);
      if (pending.length === 0 || values['dry-run']) {
        for (const name of pending) say(`  ${name}`);
        return true;
      }
      note(`· ${service}: applying ${pending.join(', ')}`);
      const began = performance.now();
      const applied = await applyMigrations({ url, directory });
      for (const name of applied) say(`  ${name}   applied`);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      say(`${service}: up to date (${plural(applied.length, 'migration')} in ${seconds} s)`);
      return true;
    });
  },
});

function refuseEdited(error: unknown): never {
  if (error instanceof EditedMigration) throw new Refusal('edited migration', error.message, { cause: error });
  throw error;
}
