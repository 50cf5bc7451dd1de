import type pg from 'pg';
import { type Call, command, dryRun } from '../command.ts';
import { connected } from '../connect.ts';
import { plural, withOperations } from '../each-place.ts';
import { follow } from '../follow.ts';
import { readCount } from '../numbers.ts';
import { misused, Refusal } from '../refusal.ts';
import { emptyWalk, findProgress, forgetWalk, type Progress, wakeCatchUp } from './rebuild.store.ts';

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
  summary: 'read the snapshot behind a projection anew',
  help: `Usage: ops rebuild <service> <projection> [--restart] [--empty] [--dry-run] [--wait 600]

The service's worker reads the snapshot of what the projection follows, page by page, while everything goes on: what is
missing comes back, and what is older is renewed. One that is under way goes on where it was, whoever was interrupted.

  --restart   begins again with one that is under way
  --empty     deletes what the projection has first: for rows of things that are no more. Until it is read, they are unknown
  --wait      seconds to say how far it is; 0: does not wait. Ctrl-C ends the waiting, not the reading
  --dry-run   says how far it is and what would be done`,
  options,
  async run(call) {
    const { service, words } = call;
    const [name, ...more] = words;
    if (service === undefined || name === undefined || more.length > 0)
      throw misused('Say which: `ops rebuild <service> <projection>`.');
    const [place] = await call.places();
    if (!place) throw misused(`There is no database of ${service}.`);
    const projections = await withOperations(place, async (operations) => operations.projections);
    const tables = Object.hasOwn(projections, name) ? projections[name] : undefined;
    if (!tables) {
      const known = Object.keys(projections).join(', ') || 'none';
      throw misused(`${service} has no projection ${name}: its projections are ${known}.`);
    }
    return connected(place.url, (pool) => rebuildOne(call, pool, { name, tables, whose: `${service} ${name}` }));
  },
});

interface Walk {
  readonly name: string;
  readonly tables: readonly string[];
  /** Service and name, for people. */
  readonly whose: string;
}

/** For people. */
function progressText(progress: Progress): string {
  const rows = plural(progress.rows, 'row');
  if (progress.state === 'read') return `read to its end at ${progress.at.toISOString()}, ${rows}`;
  return progress.state === 'none' ? `not begun, ${rows}` : `being read, ${rows}`;
}

/** What a call does to a walk that is so far. */
function planOf({ state }: Progress, { restart, empty }: Pick<Values, 'restart' | 'empty'>) {
  if (empty) return 'empty';
  if (state === 'read' || (state === 'reading' && restart)) return 'forget';
  return 'go on';
}

const plans = {
  empty: ({ rows }: Progress) => `${plural(rows, 'row')} go, and the snapshot is read from its beginning`,
  forget: () => 'the snapshot is read from its beginning',
  'go on': ({ state }: Progress) => (state === 'reading' ? 'it goes on where it is' : 'it is about to be read anyway'),
};

async function rebuildOne(call: Call<Values>, pool: pg.Pool, walk: Walk): Promise<boolean> {
  const { values, say, note, stopping } = call;
  const patience = readCount('--wait', values.wait) * 1_000;
  const before = await findProgress(pool, walk);
  const plan = planOf(before, values);
  say(`${walk.whose}: ${progressText(before)}; ${plans[plan](before)}`);
  if (values['dry-run']) return true;

  if (plan === 'empty') say(`${walk.whose}: ${plural(await emptyWalk(pool, walk), 'row')} are gone`);
  if (plan === 'forget') await forgetWalk(pool, walk.name, values.restart);
  await wakeCatchUp(pool, walk.name);
  if (patience === 0) return true;

  note(`· ${walk.whose}: a worker begins within a minute`);
  let told = performance.now();
  let said = '';
  const after = await follow({
    look: () => findProgress(pool, walk),
    isDone: ({ state }) => state === 'read',
    tell(seen) {
      const text = progressText(seen);
      if (text === said || performance.now() - told < 1_000) return;
      [said, told] = [text, performance.now()];
      note(`· ${walk.whose}: ${text}`);
    },
    patience,
    stopping,
    every: 500,
  });
  say(`${walk.whose}: ${progressText(after)}`);
  if (after.state === 'read') return true;
  throw new Refusal('not done yet', 'it goes on by itself; the same command says how far it is.');
}
