import { groupCreated, groupDeleted, groupUpdated } from '@attribution/contracts';
import { openDatabase } from '@attribution/database';
import { newId } from '@attribution/ids';
import { catchUp, projection } from '@attribution/messaging';
import { captureLogs, eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type OpenDatabase, openServiceDatabase, ops } from './support.ts';

let database: OpenDatabase;
const ending: (() => Promise<void>)[] = [];
beforeEach(async () => {
  database = await openServiceDatabase('campaign');
});
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
  await database.drop();
});

const account_id = newId('account');
const at = '2026-11-22T10:00:00.000Z';
const groups = Array.from({ length: 6 }, (_, n) => ({
  account_id,
  aggregate_version: n + 1,
  group: { id: newId('group'), external_id: null, name: 'North', description: null, created_at: at, updated_at: at },
}));
const pageSize = 2;

/** The same projection as campaign's own. */
const knownGroups = projection({
  table: 'known_groups',
  states: [groupCreated, groupUpdated],
  gone: groupDeleted,
  row: ({ account_id, group }) => ({ id: group.id, account_id }),
  goneId: ({ group_id }) => group_id,
});

/** Runs the catch-up job as a worker does; it hangs at the cursor `crashAt`. Returns the cursors that it has requested. */
function startWorker({ crashAt }: { crashAt?: string } = {}) {
  const requested: (string | null)[] = [];
  const stopping = new AbortController();
  const open = openDatabase<never, never>(
    { url: database.url, poolSize: 2 },
    () => ({ $disconnect: async () => {} }) as never,
  );
  const job = catchUp({
    name: 'groups',
    database: open,
    logger: captureLogs().logger,
    async pages(cursor: string | null) {
      requested.push(cursor);
      if (crashAt !== undefined && cursor === crashAt) await new Promise(() => {});
      const from = Number(cursor ?? 0);
      const next = from + pageSize;
      return { groups: groups.slice(from, next), next_cursor: next < groups.length ? `${next}` : null };
    },
    apply: (page) => [knownGroups.of(page.groups)],
  });
  const run = async () => {
    while (!stopping.signal.aborted) {
      await job.run(stopping.signal);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const running = run();
  ending.push(async () => {
    stopping.abort();
    if (crashAt === undefined) await running;
    await open.close();
  });
  return requested;
}

const known = async () =>
  (await database.rows<{ id: string }>('SELECT id FROM known_groups ORDER BY id')).map(({ id }) => id);
const all = groups.map(({ group }) => group.id).toSorted();
const snapshots = () => database.rows<{ completed_at: Date | null }>('SELECT completed_at FROM projection_snapshots');
const rebuild = (words = '') => ops(`rebuild campaign groups ${words}`, database.environment);

/** Runs a rebuild and starts a worker once the command has read the progress. Returns the cursors that the worker requested. */
async function rebuildWithWorker() {
  let requested: (string | null)[] = [];
  const start = (line: string) => {
    if (line.includes('a worker begins')) requested = startWorker();
  };
  const { code } = await ops('rebuild campaign groups', database.environment, undefined, start);
  return { code, requested };
}

async function readOnce(): Promise<void> {
  startWorker();
  await eventually(async () => expect(await snapshots()).toEqual([{ completed_at: expect.any(Date) }]));
}

test('a dry run reports the progress and changes nothing; the real run brings back missing rows', async () => {
  await readOnce();
  await database.rows('DELETE FROM known_groups WHERE id = $1', all[3]);
  const before = await snapshots();
  const dry = await rebuild('--dry-run');
  const plan = /^campaign groups: read to its end at \S+, 5 rows; the snapshot is read from its beginning$/;
  expect([dry.code, dry.out]).toEqual([0, expect.stringMatching(plan)]);
  expect([await snapshots(), (await known()).length]).toEqual([before, 5]);
  const real = await rebuild();
  expect([real.code, real.out.split('\n')]).toEqual([
    0,
    [expect.stringMatching(plan), expect.stringMatching(/^campaign groups: read to its end at \S+, 6 rows$/)],
  ]);
  expect(await known()).toEqual(all);
});

test('after an interruption the same command continues the snapshot where it was', async () => {
  startWorker({ crashAt: '4' });
  await eventually(async () => expect(await known()).toHaveLength(4));
  const stopped = AbortSignal.abort();
  const first = await ops('rebuild campaign groups', database.environment, stopped);
  expect([first.code, first.out]).toEqual([1, expect.stringContaining('being read, 4 rows; it continues where it is')]);
  expect(first.err).toContain('the worker continues');
  expect(await rebuildWithWorker()).toEqual({ code: 0, requested: ['4'] });
  expect(await known()).toEqual(all);
});

test('--restart starts a snapshot that is being read from its beginning', async () => {
  startWorker({ crashAt: '4' });
  await eventually(async () => expect(await known()).toHaveLength(4));
  expect((await rebuild('--restart --wait 0')).code).toBe(0);
  expect(await rebuildWithWorker()).toEqual({ code: 0, requested: [null, '2', '4'] });
});

test('a row that is not in the snapshot survives a rebuild, and is deleted with --empty', async () => {
  await readOnce();
  await database.rows(`INSERT INTO known_groups (id, account_id, aggregate_version) VALUES ('grp_ghost', 'acc', 1)`);
  expect((await rebuild()).code).toBe(0);
  expect(await known()).toHaveLength(7);
  const dry = await rebuild('--empty --dry-run');
  expect(dry.out).toContain('7 rows are deleted, and the snapshot is read from its beginning');
  expect(await known()).toHaveLength(7);
  const real = await rebuild('--empty');
  expect([real.code, real.out]).toEqual([0, expect.stringContaining('7 rows were deleted')]);
  expect(await known()).toEqual(all);
});

test("in a container the command is about that container's service", async () => {
  await readOnce();
  const environment = { DATABASE_URL: database.url, SERVICE: 'campaign', ROLE: 'worker' };
  expect((await ops('rebuild groups --dry-run', environment)).out).toMatch(/^campaign groups: read to its end/);
  expect((await ops('rebuild account groups', environment)).err).toContain('not that of account');
});

test('an unknown projection is refused, and the error lists those that the service has', async () => {
  const { code, err } = await ops('rebuild campaign screens', database.environment);
  expect([code, err]).toEqual([2, expect.stringContaining('its projections are groups')]);
});
