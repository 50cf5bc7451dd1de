import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { migrate } from '@attribution/database';
import { newUuid } from '@attribution/ids';
import { createTestDatabase, openBareDatabase, type TestDatabase, testServers } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import account from '../src/index.ts';

const role = `account_process_${randomBytes(4).toString('hex')}`;
let database: TestDatabase;
let processUrl: string;
let asProcess: ReturnType<typeof openBareDatabase>;

async function administer(sql: string): Promise<void> {
  const administrator = openBareDatabase({ url: testServers.postgresUrl() });
  await administrator.pool.query(sql).finally(() => administrator.close());
}

beforeAll(async () => {
  database = await createTestDatabase('account');
  await administer(`CREATE ROLE ${role} LOGIN PASSWORD 'process'`);
  const { appendOnly, migrations } = account;
  await migrate({ url: database.url, directory: fileURLToPath(migrations), processRole: { name: role, appendOnly } });
  processUrl = Object.assign(new URL(database.url), { username: role, password: 'process' }).href;
  asProcess = openBareDatabase({ url: processUrl });
});
afterAll(async () => {
  await asProcess.close();
  await database.drop();
  await administer(`DROP ROLE ${role}`);
});

const record = `
  INSERT INTO audit_log (id, occurred_at, action, outcome, actor_type, details)
  VALUES (gen_random_uuid(), now(), 'session.opened', 'done', 'person', '{}')`;

test('the role of the service’s processes adds to the audit log and reads it, and can neither change it nor end what refuses changes', async () => {
  await asProcess.pool.query(record);
  const refused = [
    ...["UPDATE audit_log SET action = 'nothing'", 'DELETE FROM audit_log', 'TRUNCATE audit_log'],
    ...['DROP TRIGGER audit_log_append_only ON audit_log', 'ALTER TABLE audit_log DISABLE TRIGGER USER'],
    ...[
      'DROP TABLE audit_log',
      'DROP FUNCTION refuse_audit_change() CASCADE',
      'SET session_replication_role = replica',
    ],
    `CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
  ];
  for (const sql of refused) await expect(asProcess.pool.query(sql)).rejects.toThrow(/permission denied|must be owner/);
  expect((await asProcess.pool.query('SELECT action FROM audit_log')).rows).toEqual([{ action: 'session.opened' }]);
});

describe('records whose time is over', () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
  /** With the id that a record of that time has: a UUIDv7. */
  const idAt = (time: Date) => {
    const hex = time.getTime().toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}${newUuid().slice(13)}`;
  };
  const insert = (days: number) =>
    asProcess.pool.query(
      `INSERT INTO audit_log (id, occurred_at, action, outcome, actor_type, details)
       VALUES ($1, $2, 'of ' || $3, 'done', 'person', '{}')`,
      [idAt(daysAgo(days)), daysAgo(days), `${days} days ago`],
    );
  const kept = async () => {
    const { rows } = await asProcess.pool.query<{ action: string }>(
      "SELECT action FROM audit_log WHERE action LIKE 'of %' ORDER BY occurred_at",
    );
    return rows.map(({ action }) => action);
  };
  const purgeBy = (url: string, environment: Record<string, string>) => {
    const operations = account.openOperations({ url, environment, clock: { now: () => new Date() } });
    const { 'purge-audit-log': purge } = operations.purges;
    if (!purge) throw new Error('There is no purge of the audit log');
    return { purge, close: () => operations.close() };
  };

  test('are purged by the role of the processes, exactly as many as were counted: after two years, or when the setting says', async () => {
    for (const days of [3, 364, 400, 729, 731, 2000]) await insert(days);
    for (const [environment, due, left] of [
      [{}, 2, [729, 400, 364, 3]],
      [{ AUDIT_LOG_DAYS: '399' }, 2, [364, 3]],
      [{ AUDIT_LOG_DAYS: '366' }, 0, [364, 3]],
    ] as const) {
      const { purge, close } = purgeBy(processUrl, environment);
      expect([await purge.count(), await purge.purge()]).toEqual([{ audit_log: due }, { audit_log: due }]);
      expect(await kept()).toEqual(left.map((days) => `of ${days} days ago`));
      await close();
    }
  });

  test('two purges at once delete each record once', async () => {
    for (let n = 0; n < 20; n++) await insert(800);
    const purges = [purgeBy(processUrl, {}), purgeBy(processUrl, {})];
    const counts = await Promise.all(purges.map(({ purge }) => purge.purge()));
    expect(counts.reduce((sum, { audit_log = 0 }) => sum + audit_log, 0)).toBe(20);
    await Promise.all(purges.map(({ close }) => close()));
  });

  test('a record younger than a year is deleted by nobody: neither by the function, nor by the owner of the table', async () => {
    await insert(360);
    const young = asProcess.pool.query('SELECT purge_audit_log($1, 10)', [daysAgo(364)]);
    await expect(young).rejects.toThrow('audit records are kept for 365 days at least');
    const owner = openBareDatabase({ url: database.url });
    const all = owner.pool.query('DELETE FROM audit_log').finally(() => owner.close());
    await expect(all).rejects.toThrow('the audit log is append-only');
    expect(await kept()).toContain('of 360 days ago');
  });
});

test('it changes and deletes rows of every other table, as the service must', async () => {
  const { rows } = await asProcess.pool.query<{ name: string; rights: boolean[] }>(`
    SELECT tablename AS name, array[
      has_table_privilege(format('%I', tablename), 'SELECT'), has_table_privilege(format('%I', tablename), 'INSERT'),
      has_table_privilege(format('%I', tablename), 'UPDATE'), has_table_privilege(format('%I', tablename), 'DELETE')] AS rights
    FROM pg_tables WHERE schemaname = 'public'`);
  const fewer = rows.filter(({ rights }) => rights.includes(false)).map(({ name, rights }) => [name, ...rights]);
  expect(rows.length).toBeGreaterThan(20);
  expect(fewer.toSorted()).toEqual([
    ['_prisma_migrations', true, false, false, false],
    ['audit_log', true, true, false, false],
  ]);
});
