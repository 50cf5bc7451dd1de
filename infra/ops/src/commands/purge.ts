import { withAdvisoryLock } from '@attribution/database';
import { type Counts, commonPurges, type Purge } from '@attribution/service';
import type pg from 'pg';
import { command, dryRun } from '../command.ts';
import { connected } from '../connect.ts';
import { eachPlace, withOperations } from '../each-place.ts';
import { misused } from '../refusal.ts';

export const purge = command({
  name: 'purge',
  summary: 'delete now what jobs delete in their turn; --dry-run: how much that is',
  help: `Usage: ops purge [service] [--job <name>] [--dry-run]

Deletes what nobody needs any more: what is over by its time, and what accounts have left that are gone. Each service's
worker does the same every hour; this is for not waiting, and for knowing.

  --job       this one alone, by the name that is listed
  --dry-run   counts what would go, and deletes nothing`,
  options: { ...dryRun, job: { type: 'string' } },
  async run(call) {
    const { values, say, note } = call;
    const dry = values['dry-run'];
    const clock = { now: () => new Date() };
    let [total, jobs] = [0, 0];
    const good = await eachPlace(call, await call.places(), (place) =>
      connected(place.url, (pool) =>
        withOperations(place, async (operations) => {
          const all = Object.entries({ ...commonPurges(pool, clock), ...operations.purges });
          for (const [name, one] of all.filter(([job]) => values.job === undefined || values.job === job)) {
            jobs++;
            note(`· ${place.service}: ${name}`);
            const counts = dry ? await one.count() : await underLock(pool, name, one);
            if (!counts) say(`${place.service}  ${name}: a worker is at it, so nothing is left to do`);
            else say(`${place.service}  ${name}: ${textOf(counts)}`);
            total += sumOf(counts ?? {});
          }
          return true;
        }),
      ),
    );
    if (jobs === 0 && good) throw misused(`No service has a job ${values.job}.`);
    say(dry ? `${total} rows would go` : `${total} rows are gone`);
    return good;
  },
});

/** As the job itself: by one at a time. Undefined where another is at it. */
const underLock = (pool: pg.Pool, name: string, one: Purge): Promise<Counts | undefined> =>
  withAdvisoryLock(pool, `job ${name}`, () => one.purge());

const sumOf = (counts: Counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

function textOf(counts: Counts): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return parts.map(([table, count]) => `${table} ${count}`).join(', ') || 'nothing';
}
