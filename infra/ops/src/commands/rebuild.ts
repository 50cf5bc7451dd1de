import type pg from 'pg';
import { type Call, command, dryRun } from '../command.ts';
import { withDatabase } from '../connect.ts';
import { plural, withOperations } from '../each-database.ts';
import { readCount } from '../numbers.ts';
import { pollUntil } from '../poll-until.ts';
import { misused, Refusal } from '../refusal.ts';
import {
  type Emptied,
  emptyProjection,
  findProgress,
  type Progress,
  restartSnapshot,
  wakeCatchUp,
} from './rebuild.store.ts';

const options = {
  ...dryRun,
  restart: { type: 'boolean', default: false },
  empty: { type: 'boolean', default: false },
  wait: { type: 'string', default: '600' },
} as const;
type Values = {
  readonly 'dry-run': boolean;
  readonly restart: boolean;
  readonly empty: boolean;
  readonly wait: string;
};

export const rebuild = command({
  name: 'rebuild',
  summary: 'read the snapshot behind a projection again',
  help: `Usage: ops rebuild <service> <projection> [--restart] [--empty] [--dry-run] [--wait 600]

The service's worker reads the snapshot behind the projection page by page, while the service keeps running. Missing rows
come back and outdated rows are updated. A snapshot that is being read already continues where it is.

  --restart   starts a snapshot that is being read from its beginning
  --empty     deletes the projection's rows first, which removes rows of things that no longer exist. The service does not
              know the others until they have been read again. Where a service goes on counting what is gone, rows stay,
              and are those of things that are gone until they have been read again
  --wait      seconds to report progress; 0 does not wait. Ctrl-C ends the waiting, not the reading
  --dry-run   reports the progress and what would be done`,
  options,
  async run(call) {
    const { service, words } = call;
    const [name, ...more] = words;
    if (service === undefined || name === undefined || more.length > 0)
      throw misused('Name the projection: `ops rebuild <service> <projection>`.');
    const [database] = await call.databases();
    if (!database) throw misused(`There is no database of ${service}.`);
    const projections = await withOperations(database, async (operations) => operations.projections);
    const projection = Object.hasOwn(projections, name) ? projections[name] : undefined;
    if (!projection) {
      const known = Object.keys(projections).join(', ') || 'none';
      throw misused(`${service} has no projection ${name}: its projections are ${known}.`);
    }
    return withDatabase(database.url, (pool) =>
      rebuildOne(call, pool, { name, ...projection, label: `${service} ${name}` }),
    );
  },
});

interface Projection extends Emptied {
  /** `campaign groups`, for output. */
  readonly label: string;
}

function progressText(progress: Progress): string {
  const rows = plural(progress.rows, 'row');
  if (progress.state === 'read') return `read to its end at ${progress.at.toISOString()}, ${rows}`;
  return progress.state === 'none' ? `not begun, ${rows}` : `being read, ${rows}`;
}

/** What to do, given the progress so far and the options. */
function planOf({ state }: Progress, { restart, empty }: Pick<Values, 'restart' | 'empty'>) {
  if (empty) return 'empty';
  if (state === 'read' || (state === 'reading' && restart)) return 'restart';
  return 'continue';
}

const emptied = ({ kept }: Emptied) => (Object.keys(kept).length > 0 ? 'deleted, or kept as gone' : 'deleted');

const planText = {
  empty: ({ rows }: Progress, projection: Emptied) =>
    `${plural(rows, 'row')} are ${emptied(projection)}, and the snapshot is read from its beginning`,
  restart: () => 'the snapshot is read from its beginning',
  continue: ({ state }: Progress) =>
    state === 'reading' ? 'it continues where it is' : 'it is about to be read anyway',
};

async function rebuildOne(call: Call<Values>, pool: pg.Pool, projection: Projection): Promise<boolean> {
  const { values, say, note, stopping } = call;
  const { name, label } = projection;
  const timeoutMs = readCount('--wait', values.wait) * 1_000;
  const before = await findProgress(pool, projection);
  const plan = planOf(before, values);
  say(`${label}: ${progressText(before)}; ${planText[plan](before, projection)}`);
  if (values['dry-run']) return true;

  if (plan === 'empty')
    say(`${label}: ${plural(await emptyProjection(pool, projection), 'row')} were ${emptied(projection)}`);
  if (plan === 'restart') await restartSnapshot(pool, name, values.restart);
  await wakeCatchUp(pool, name);
  if (timeoutMs === 0) return true;

  note(`· ${label}: a worker begins within a minute`);
  let last = { text: '', at: performance.now() };
  const after = await pollUntil({
    read: () => findProgress(pool, projection),
    isDone: ({ state }) => state === 'read',
    onRead(progress) {
      const text = progressText(progress);
      if (text === last.text || performance.now() - last.at < 1_000) return;
      last = { text, at: performance.now() };
      note(`· ${label}: ${text}`);
    },
    timeoutMs,
    stopping,
    intervalMs: 500,
  });
  say(`${label}: ${progressText(after)}`);
  if (after.state === 'read') return true;
  throw new Refusal('not done yet', 'the worker continues; run the same command again to see the progress.');
}
