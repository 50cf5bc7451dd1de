import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runImports } from '../src/imports/index.ts';
import { newTenant, startOrganization } from './support.ts';
import { a, countsOf, ended, holdImports, never, openDependencies, reportOf, send, site } from './support-imports.ts';
import { mortal } from './support-mortal.ts';

let service: TestService;
let deps: ReturnType<typeof openDependencies>;
let release: () => Promise<void>;
beforeAll(async () => {
  service = await startOrganization();
  deps = openDependencies(service);
  release = await holdImports(service);
});
afterAll(async () => {
  await release();
  await deps.database.close();
  await service.stop();
});

const run = (more: { readonly turnMs?: number } = {}) => runImports({ ...deps, ...more }).run(never);
const estate = [a.group('G'), ...site('A', 'G')];
const locations = (count: number) => [
  a.group('G'),
  ...Array.from({ length: count }, (_, at) => a.location(`L${at}`, 'G')),
];

/** The heap of a worker in k8s is four times as large, and a file may be three times as large. */
const heapMegabytes = 64;
const lines = 26_000;

test('names of faulty rows are not kept: a file of long ones is read by a process with a small heap', async () => {
  const tenant = newTenant(service);
  const name = 'ā'.repeat(395);
  const rows = Array.from({ length: lines }, (_, at) => {
    const own = `${name}${String(at).padStart(5, '0')}`;
    return JSON.stringify({ kind: 'zone', external_id: own, parent: own });
  });
  const { id } = await send(tenant.owner, rows.join('\n'), { media: 'application/x-ndjson' });
  const program = join(import.meta.dirname, 'imports.process.ts');
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${heapMegabytes}`, program, service.db.options.connectionString ?? ''],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let errors = '';
  child.stderr.on('data', (text) => (errors += String(text)));
  const died = once(child, 'exit').then(() => Promise.reject(new Error(`The process died: ${errors.slice(0, 2_000)}`)));
  const done = await Promise.race([ended(tenant.owner, id, 100_000), died]);
  died.catch(() => {});
  child.kill('SIGKILL');
  expect([done.status, ...countsOf(done)]).toEqual(['succeeded', 0, 0, 0, lines]);
});

test('an import that kills its process three times without progress has failed, and those of others are done', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  const { id } = await send(tenant.owner, estate);
  for (const _ of [1, 2, 3]) {
    const victim = mortal(deps.database, 4);
    await runImports({ ...deps, database: victim.database })
      .run(never)
      .catch(() => {});
    expect(victim.dead).toBe(true);
  }
  const { id: behind } = await send(other.owner, estate);
  await run();
  expect(await ended(tenant.owner, id, 0)).toMatchObject({
    status: 'failed',
    error: 'The import could not be done. What it had set up until then stays.',
    rows: { total: 0, created: 0 },
  });
  expect(countsOf(await ended(other.owner, behind, 0))).toEqual([6, 0, 0, 0]);
});

test('deaths with progress in between do not count: an import may outlive any number of them', async () => {
  const tenant = newTenant(service);
  const { id } = await send(tenant.owner, locations(20_000));
  let deaths = 0;
  for (let died = true; died; deaths++) {
    const victim = mortal(deps.database, 24);
    await runImports({ ...deps, database: victim.database })
      .run(never)
      .catch(() => {});
    died = victim.dead;
  }
  expect(deaths).toBeGreaterThan(4); // One of them is the end.
  expect(countsOf(await ended(tenant.owner, id, 0))).toEqual([20_001, 0, 0, 0]);
});

test('an import that fails stops neither those of other accounts nor, once it has ended, its own account’s', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  const { id } = await send(tenant.owner, estate);
  const { id: next } = await send(tenant.owner, estate);
  const { id: behind } = await send(other.owner, estate);
  await service.db.query(`
    CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.import_id = '${id}' THEN RAISE 'A fault of ours'; END IF; RETURN NEW;
    END $$;
    CREATE TRIGGER fault BEFORE INSERT ON estate_import_lots FOR EACH ROW EXECUTE FUNCTION fault()`);
  try {
    await expect(run()).rejects.toThrow('A fault of ours');
    expect(countsOf(await ended(other.owner, behind, 0))).toEqual([6, 0, 0, 0]);
    await expect(run()).rejects.toThrow('A fault of ours');
    await run();
  } finally {
    await service.db.query('DROP FUNCTION fault CASCADE');
  }
  expect((await ended(tenant.owner, id, 0)).status).toBe('failed');
  expect(countsOf(await ended(tenant.owner, next, 0))).toEqual([6, 0, 0, 0]);
});

test('accounts take turns: a small import is done before the large ones of other accounts that began earlier', async () => {
  const large = await Promise.all(
    [1, 2, 3].map(async () => {
      const tenant = newTenant(service);
      return { tenant, id: (await send(tenant.owner, locations(6_000))).id };
    }),
  );
  const small = newTenant(service);
  const { id } = await send(small.owner, estate);
  await run({ turnMs: 50 });
  const done = await ended(small.owner, id, 0);
  for (const { tenant, id: largeId } of large) {
    const other = await ended(tenant.owner, largeId, 0);
    expect(countsOf(other)).toEqual([6_001, 0, 0, 0]);
    expect(Date.parse(other.finished_at ?? '')).toBeGreaterThan(Date.parse(done.finished_at ?? ''));
  }
});

test('the imports of an account are done one after the other, in order, whatever else is done at the same time', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  const renamed = (name: string) => locations(1_200).map((row) => ({ ...row, name }));
  const sent: string[] = [];
  for (const name of ['one', 'two', 'three']) sent.push((await send(tenant.owner, renamed(name))).id);
  const { id } = await send(other.owner, renamed('other'));
  await run({ turnMs: 20 });
  const counts = await Promise.all(sent.map(async (one) => countsOf(await ended(tenant.owner, one, 0))));
  expect(counts).toEqual([
    [1_201, 0, 0, 0],
    [0, 1_201, 0, 0],
    [0, 1_201, 0, 0],
  ]);
  expect(countsOf(await ended(other.owner, id, 0))).toEqual([1_201, 0, 0, 0]);
  expect(await reportOf(tenant.owner, sent[2] ?? '')).toEqual([]);
});
