import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getEstateImport } from '@attribution/contracts';
import { chanceFrom, eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runImports } from '../src/imports/index.ts';
import { newTenant, type Tenant } from './support.ts';
import { type HeldImports, startHeldImports } from './support-held-imports.ts';
import {
  a,
  countStored,
  countsOf,
  ended,
  exported,
  never,
  openDependencies,
  type Row,
  reportOf,
  send,
  site,
} from './support-imports.ts';

let held: HeldImports;
let service: TestService;
let deps: HeldImports['deps'];
beforeAll(async () => {
  held = await startHeldImports();
  ({ service, deps } = held);
});
afterAll(() => held.stop());

const program = join(import.meta.dirname, 'imports.process.ts');
const run = () => held.run();
const runUntil = (at: number) => held.runUntil(at);

/** For tests that die more often without progress than an import has attempts. */
const forgiveAttempts = (id: string) => service.db.query('UPDATE estate_imports SET attempts = 0 WHERE id = $1', [id]);

/** The outcome of an import, without ids and times. */
async function outcomeOf(tenant: Tenant, id: string) {
  const { rows, status, progress, error } = await ended(tenant.owner, id, 0);
  const report = await reportOf(tenant.owner, id);
  return {
    rows,
    status,
    progress,
    error,
    report,
    estate: await exported(tenant.owner),
    stored: await countStored(service, id),
  };
}

/** The events of an account, in order: type, external id and version. */
async function versionsOf(tenant: Tenant): Promise<string[]> {
  const events = await tenant.events();
  return events.map(({ type, data }) => {
    const [kind = ''] = type.split('.');
    return `${type} ${(data[kind] as { external_id: string }).external_id} ${data.aggregate_version as number}`;
  });
}

const before = [a.group('G'), ...site('A', 'G')];
/** Rows that are changed, unchanged and new, and that are faulty alone, in the database, and for their parent. */
const after = [
  ...before.map((row) => (row.kind === 'zone' ? { ...row, name: 'New' } : row)),
  ...[a.group('H'), a.group('bad', { name: '' })],
  ...site('B', 'H'),
  ...site('C', 'bad'),
  ...site('D', 'G').map((row) => (row.kind === 'screen' ? { ...row, width_px: 0 } : row)),
  ...site('E', 'G').map((row) => (row.kind === 'installation' ? { ...row, device_id: before.at(-2)?.device_id } : row)),
  a.screen('late', 'F-Z'),
  ...site('F', 'H'),
];

async function begin(dry_run: boolean) {
  const tenant = newTenant(service);
  const first = await send(tenant.owner, before);
  await run();
  expect(countsOf(await ended(tenant.owner, first.id))).toEqual([6, 0, 0, 0]);
  const { id } = await send(tenant.owner, after, { dry_run });
  return { tenant, id };
}

test.each([
  ['an import', false],
  ['a dry run', true],
])(
  '%s that is killed at any step is completed by the next run: each row once, with the right counts',
  async (_, dry_run) => {
    const undisturbed = await begin(dry_run);
    await run();
    const whole = await outcomeOf(undisturbed.tenant, undisturbed.id);
    expect(whole).toMatchObject({
      status: 'succeeded',
      rows: { total: after.length, created: 6, updated: 1, unchanged: 5 },
    });
    const killed: Tenant[] = [];
    for (let at = 1; ; at++) {
      const { tenant, id } = await begin(dry_run);
      killed.push(tenant);
      const died = await runUntil(at);
      if (died) {
        // However far it got, each location is whole or does not exist.
        const rows = (await exported(tenant.owner)).split('\n').filter((line) => /,[B-F](-.)?,/.test(line));
        expect([0, 5]).toContain(rows.length);
        await run();
      }
      expect([at, await outcomeOf(tenant, id)]).toEqual([at, whole]);
      if (!died) break;
    }
    expect(killed.length).toBeGreaterThan(15);
    const expected = (await versionsOf(undisturbed.tenant)).sort();
    for (const tenant of killed) expect((await versionsOf(tenant)).sort()).toEqual(expected);
  },
  600_000,
);

test('an import whose file cannot be read, killed at any step, fails and never succeeds', async () => {
  const file = 'kind,external_id,name\ngroup,G,One\ngroup,,\ngroup,"H,Two\n';
  let steps = 0;
  for (let died = true; died; steps++) {
    const tenant = newTenant(service);
    const { id } = await send(tenant.owner, file);
    died = await runUntil(steps + 1);
    await run();
    const { status, error } = await ended(tenant.owner, id, 0);
    expect([steps, status, error, await reportOf(tenant.owner, id)]).toEqual([
      ...[steps, 'failed', 'row 4: opens a quote that is never closed.'],
      [],
    ]);
    expect(await exported(tenant.owner)).not.toContain('One');
  }
  expect(steps).toBeGreaterThan(5);
});

test('an import of many batches that is killed again and again is completed', async () => {
  const draw = chanceFrom(7);
  const rows: Row[] = [a.group('G')];
  for (let at = 0; at < 900; at++)
    rows.push(a.location(`L${at}`, 'G'), ...['1', '2', '3', '4'].map((zone) => a.zone(`Z${at}-${zone}`, `L${at}`)));
  const faulty = rows.map((row, at) => (at % 500 === 3 ? { ...row, name: '' } : row));
  const tenant = await newTenant(service).withPlan();
  const { id } = await send(tenant.owner, faulty);
  let deaths = 0;
  for (let died = true; died; deaths++) died = await runUntil(draw.int(22, 30));
  expect(deaths).toBeGreaterThan(2);
  const done = await ended(tenant.owner, id);
  expect([done.status, ...countsOf(done)]).toEqual(['succeeded', 4_456, 0, 0, 45]);
  const events = await tenant.events();
  expect(events).toHaveLength(4_456);
  expect(new Set(events.map(({ data }) => data.aggregate_version))).toEqual(new Set([1]));
});

test('when a process is killed by SIGKILL, the next one completes the import', async () => {
  const tenant = await newTenant(service).withPlan();
  const sites = Array.from({ length: 900 }, (_, at) => site(`L${at}`, 'G')).flat();
  const rows = [a.group('G'), ...sites].map((row, at) => (at % 500 === 3 ? { ...row, name: '' } : row));
  const { id } = await send(tenant.owner, rows);
  const draw = chanceFrom(11);
  const isOver = async () => (await tenant.owner.call(getEstateImport, { params: { id } })).body.finished_at !== null;
  let kills = 0;
  for (; !(await isOver()); kills++) {
    const child = spawn(process.execPath, [program, service.db.options.connectionString ?? ''], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const over = once(child, 'exit');
    await once(child.stdout, 'data');
    await sleep(draw.int(0, 399) + kills * 800); // Grows until there is time for the whole import.
    child.kill('SIGKILL');
    await over;
    await forgiveAttempts(id);
  }
  expect(kills).toBeGreaterThan(1);
  const done = await ended(tenant.owner, id, 0);
  expect([done.status, ...countsOf(done)]).toEqual(['succeeded', 4_456, 0, 0, 45]);
  const events = await tenant.events();
  expect(events).toHaveLength(4_456);
  expect(new Set(events.map(({ data }) => data.aggregate_version))).toEqual(new Set([1]));
});

test('an import that is asked to stop does so between two batches, and another run completes it', async () => {
  const tenant = await newTenant(service).withPlan();
  const rows = [a.group('G'), ...Array.from({ length: 9_000 }, (_, at) => a.location(`L${at}`, 'G'))];
  const { id } = await send(tenant.owner, rows);
  const stopping = new AbortController();
  const running = runImports(deps).run(stopping.signal);
  await eventually(async () => {
    const { body } = await tenant.owner.call(getEstateImport, { params: { id } });
    if (body.progress === 0) throw new Error('Nothing is done yet');
  });
  stopping.abort();
  await running;
  const { body } = await tenant.owner.call(getEstateImport, { params: { id } });
  expect(body.status).toBe('running');
  expect(body.progress).toBeGreaterThan(0);
  expect(body.progress).toBeLessThan(100);
  await run();
  expect(countsOf(await ended(tenant.owner, id))).toEqual([9_001, 0, 0, 0]);
});

/** Wraps databases so that their first transactions wait for each other: neither has seen the work of another then. */
function barrier(count: number) {
  const complete = Promise.withResolvers<void>();
  let missing = count;
  return (database: typeof deps.database): typeof deps.database => {
    let arrived = false;
    return {
      ...database,
      async sqlTransaction(work) {
        if (!arrived && --missing === 0) complete.resolve();
        arrived = true;
        await complete.promise;
        return database.sqlTransaction(work);
      },
    };
  };
}

test('two workers that both believe to be the only one apply each row once', async () => {
  const tenant = await newTenant(service).withPlan();
  const locations = Array.from({ length: 2_000 }, (_, at) => [a.location(`L${at}`, 'G'), a.zone(`Z${at}`, `L${at}`)]);
  const rows = [a.group('G'), ...locations.flat()].map((row, at) => (at % 100 === 50 ? { ...row, name: '' } : row));
  const { id } = await send(tenant.owner, rows);
  const isStaged = async () =>
    (await service.db.query('SELECT FROM estate_imports WHERE id = $1 AND staged_at IS NOT NULL', [id])).rowCount === 1;
  for (let at = 5; !(await isStaged()); at++) {
    await runUntil(at);
    await forgiveAttempts(id);
  }
  const other = openDependencies(service);
  const both = barrier(2);
  const jobOf = (own: typeof deps) => runImports({ ...own, database: both(own.database) });
  const [job, rival] = [jobOf(deps), jobOf(other)];
  let clashes = 0;
  for (let at = 0; at < 3; at++)
    for (const { status } of await Promise.allSettled([job.run(never), rival.run(never)]))
      if (status === 'rejected') clashes++;
  await other.database.close();
  expect(clashes).toBeGreaterThan(0);
  const done = await ended(tenant.owner, id, 0);
  expect([done.status, done.rows.total, ...countsOf(done)]).toEqual(['succeeded', 4_001, 3_921, 0, 0, 80]);
  expect(await tenant.events()).toHaveLength(3_921);
});

test('a worker that still reads the file when another has completed the import and deleted the file neither fails the import nor deletes its rows', async () => {
  const tenant = newTenant(service);
  const groups = Array.from({ length: 12_000 }, (_, at) => `group,"G${at}","${'x'.repeat(190)}"`);
  const file = ['kind,external_id,name', ...groups, 'group,bad,'].join('\n');
  const { id } = await send(tenant.owner, file);
  const { sql } = deps.database;
  let reads = 0;
  const $queryRaw: typeof sql.$queryRaw = async (statement, ...values) => {
    const isRead = Array.isArray(statement) && statement.join().includes('FROM estate_import_parts');
    // If the late worker's first rows are committed while the other stages its own, the other gives up and begins again.
    if (isRead && ++reads === 2) await run().catch(run);
    return sql.$queryRaw(statement, ...values);
  };
  const late = runImports({ ...deps, database: { ...deps.database, sql: { ...sql, $queryRaw } } });
  await expect(late.run(never)).rejects.toThrow('Another worker works on the same import');
  const done = await ended(tenant.owner, id, 0);
  expect([done.status, ...countsOf(done)]).toEqual(['succeeded', 12_000, 0, 0, 1]);
  expect(await reportOf(tenant.owner, id)).toHaveLength(1);
});
