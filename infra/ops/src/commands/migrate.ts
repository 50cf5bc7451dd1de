import { fileURLToPath } from 'node:url';
import { migrate as applyMigrations, EditedMigration, missingMigrations } from '@attribution/database';
import { loadService } from '@attribution/registry';
import { command, dryRun } from '../command.ts';
import { eachDatabase, plural } from '../each-database.ts';
import { Refusal } from '../refusal.ts';

export const migrate = command({
  name: 'migrate',
  summary: 'apply pending migrations; --dry-run lists them',
  help: `Usage: ops migrate [service] [--dry-run]

Applies the pending migrations of each database, each in a transaction and all under a lock. The command may run on several
machines at once, and while services are running. It refuses a migration that was edited after it was applied.

  --dry-run   lists the pending migrations and applies none`,
  options: dryRun,
  async run(call) {
    const { values, say, note } = call;
    return eachDatabase(call, await call.databases(), async ({ service, url }) => {
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
