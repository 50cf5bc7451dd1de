import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant } from './support.ts';
import { type HeldImports, startHeldImports } from './support-held-imports.ts';
import { a, countsOf, ended, reportOf, send, site } from './support-imports.ts';

let held: HeldImports;
let service: TestService;
beforeAll(async () => {
  held = await startHeldImports();
  service = held.service;
});
afterAll(() => held.stop());

const undone = {
  status: 'failed',
  error: 'The import could not be done. What it had set up until then stays.',
};
const estate = [a.group('G'), ...site('A', 'G')];
const locations = (count: number) => [
  a.group('G'),
  ...Array.from({ length: count }, (_, at) => a.location(`L${at}`, 'G')),
];

/** The heap of a worker in k8s is four times as large, and a file may be three times as large. */
const heapMegabytes = 64;
const lines = 26_000;
/** Milliseconds. A heap that is nearly full is collected again and again, which takes minutes on a busy machine. */
const patience = 500_000;

test('names of faulty rows are not kept: a file of long ones is read by a process with a small heap, which meanwhile does the import of another account', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  const name = 'ā'.repeat(395);
  const rows = Array.from({ length: lines }, (_, at) => {
    const own = `${name}${String(at).padStart(5, '0')}`;
    return JSON.stringify({ kind: 'zone', external_id: own, parent: own });
  });
  const { id } = await send(tenant.owner, rows.join('\n'), { media: 'application/x-ndjson' });
  const { id: behind } = await send(other.owner, estate);
  const program = join(import.meta.dirname, 'imports.process.ts');
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${heapMegabytes}`, program, service.db.options.connectionString ?? ''],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let errors = '';
  child.stderr.on('data', (text) => (errors += String(text)));
  const died = once(child, 'exit').then(() => Promise.reject(new Error(`The process died: ${errors.slice(0, 2_000)}`)));
  died.catch(() => {});
  try {
    const both = Promise.all([ended(tenant.owner, id, patience), ended(other.owner, behind, patience)]);
    const [done, small] = await Promise.race([both, died]);
    expect([done.status, ...countsOf(done)]).toEqual(['succeeded', 0, 0, 0, lines]);
    expect(countsOf(small)).toEqual([6, 0, 0, 0]);
  } finally {
    child.kill('SIGKILL'); // Or it would work on the imports of the other tests.
  }
});

test('an import that kills its process three times without progress has failed, and those of others are done', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  const { id } = await send(tenant.owner, estate);
  for (const _ of [1, 2, 3]) expect(await held.runUntil(4)).toBe(true);
  const { id: behind } = await send(other.owner, estate);
  await held.run();
  expect(await ended(tenant.owner, id, 0)).toMatchObject({ ...undone, rows: { total: 0, created: 0 } });
  expect(countsOf(await ended(other.owner, behind, 0))).toEqual([6, 0, 0, 0]);
});

test('deaths with progress in between do not count: an import may outlive any number of them', async () => {
  const tenant = await newTenant(service).withPlan();
  const { id } = await send(tenant.owner, locations(20_000));
  let deaths = 0;
  // Reading the file takes less: what has been read of it is no progress.
  while (await held.runUntil(32)) deaths++;
  expect(deaths).toBeGreaterThan(3);
  expect(countsOf(await ended(tenant.owner, id, 0))).toEqual([20_001, 0, 0, 0]);
});

test('an import that fails because of us fails for good after three attempts, and stops neither those of other accounts nor, once it has ended, its own account’s', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  const { id } = await send(tenant.owner, estate);
  const { id: next } = await send(tenant.owner, estate);
  const { id: behind } = await send(other.owner, estate);
  const mend = await held.plantFault(id);
  try {
    await expect(held.run()).rejects.toThrow('A fault of ours');
    expect(countsOf(await ended(other.owner, behind, 0))).toEqual([6, 0, 0, 0]);
    await expect(held.run()).rejects.toThrow('A fault of ours');
    await held.run();
  } finally {
    await mend();
  }
  expect(await ended(tenant.owner, id, 0)).toMatchObject(undone);
  expect(countsOf(await ended(tenant.owner, next, 0))).toEqual([6, 0, 0, 0]);
});

test('accounts take turns: a small import is done before the large ones of other accounts that began earlier', async () => {
  const large = await Promise.all(
    [1, 2].map(async () => {
      const tenant = await newTenant(service).withPlan();
      return { tenant, id: (await send(tenant.owner, locations(10_000))).id };
    }),
  );
  const small = newTenant(service);
  const { id } = await send(small.owner, estate);
  // With the shortest of turns the large ones need five: one for the group, three for the locations (seven transactions, three
  // at once), and one that finds nothing left. The small one needs three.
  await held.run({ turnMs: 0 });
  const done = await ended(small.owner, id, 0);
  for (const { tenant, id: largeId } of large) {
    const other = await ended(tenant.owner, largeId, 0);
    expect(countsOf(other)).toEqual([10_001, 0, 0, 0]);
    expect(Date.parse(other.finished_at ?? '')).toBeGreaterThan(Date.parse(done.finished_at ?? ''));
  }
});

test('an import that is sent while a long one of another account is worked on is done before that ends', async () => {
  const [long, later] = [newTenant(service), newTenant(service)];
  const { id } = await send(long.owner, estate);
  const holder = await service.db.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM estate_imports WHERE id = $1 FOR UPDATE', [id]);
    const run = held.run();
    await eventually(async () => {
      const waiting = await service.db.query(`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%estate_imports%'`);
      expect(waiting.rowCount).toBe(1);
    });
    const { id: behind } = await send(later.owner, estate);
    expect(countsOf(await ended(later.owner, behind, 50_000))).toEqual([6, 0, 0, 0]);
    await holder.query('ROLLBACK');
    await run;
    expect(countsOf(await ended(long.owner, id, 0))).toEqual([6, 0, 0, 0]);
  } finally {
    holder.release(true);
  }
});

test('the imports of an account are done one after the other, in order, whatever else is done at the same time', async () => {
  const [tenant, other] = [await newTenant(service).withPlan(), await newTenant(service).withPlan()];
  const renamed = (name: string) => locations(1_200).map((row) => ({ ...row, name }));
  const sent: string[] = [];
  for (const name of ['one', 'two', 'three']) sent.push((await send(tenant.owner, renamed(name))).id);
  const { id } = await send(other.owner, renamed('other'));
  await held.run({ turnMs: 0 });
  const counts = await Promise.all(sent.map(async (one) => countsOf(await ended(tenant.owner, one, 0))));
  expect(counts).toEqual([
    [1_201, 0, 0, 0],
    [0, 1_201, 0, 0],
    [0, 1_201, 0, 0],
  ]);
  expect(countsOf(await ended(other.owner, id, 0))).toEqual([1_201, 0, 0, 0]);
  expect(await reportOf(tenant.owner, sent[2] ?? '')).toEqual([]);
});
