import { withAdvisoryLock } from '@attribution/database';
import { type Counts, commonPurges, type Purge } from '@attribution/service';
import type pg from 'pg';
import { command, dryRun } from '../command.ts';
import { withDatabase } from '../connect.ts';
import { eachDatabase, withOperations } from '../each-database.ts';
import { misused } from '../refusal.ts';

export const purge = command({
  name: 'purge',
  summary: 'run the purge jobs now; --dry-run counts what they would delete',
  help: `Usage: ops purge [service] [--job <name>] [--dry-run]

Deletes rows whose time is over, and rows that belonged to deleted accounts. The worker of each service does the same every
hour; use this command to do it now, or to see how much there is. Give it the settings of the workers where they say how long
something is kept (AUDIT_LOG_DAYS).

  --job       runs only the job with this name, which the output shows
  --dry-run   counts the rows that would be deleted and deletes none`,
  options: { ...dryRun, job: { type: 'string' } },
  async run(call) {
    const { values, say, note } = call;
    const dry = values['dry-run'];
    const clock = { now: () => new Date() };
    let [total, jobs] = [0, 0];
    const good = await eachDatabase(call, await call.databases(), (database) =>
      withDatabase(database.url, (pool) =>
        withOperations(database, async (operations) => {
          const all = Object.entries({ ...commonPurges(pool, clock), ...operations.purges });
          for (const [name, one] of all.filter(([job]) => values.job === undefined || values.job === job)) {
            jobs++;
            note(`· ${database.service}: ${name}`);
            const counts = dry ? await one.count() : await underLock(pool, name, one);
            if (!counts) say(`${database.service}  ${name}: skipped, because a worker is running this job`);
            else say(`${database.service}  ${name}: ${textOf(counts)}`);
            total += sumOf(counts ?? {});
          }
          return true;
        }),
      ),
    );
    if (jobs === 0 && good) throw misused(`No service has a job ${values.job}.`);
    say(dry ? `${total} rows would be deleted` : `${total} rows were deleted`);
    return good;
  },
});

/** Takes the job's own lock, so that it runs once at a time. Undefined if a worker holds the lock. */
const underLock = (pool: pg.Pool, name: string, one: Purge): Promise<Counts | undefined> =>
  withAdvisoryLock(pool, `job ${name}`, () => one.purge());

const sumOf = (counts: Counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

function textOf(counts: Counts): string {
  const deleted = Object.entries(counts).filter(([, count]) => count > 0);
  return deleted.map(([table, count]) => `${table} ${count}`).join(', ') || 'nothing';
}
