import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { migrate } from '@attribution/database';
import { createTestDatabase, openBareDatabase, type TestDatabase, testServers } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import account from '../src/index.ts';

const role = `account_process_${randomBytes(4).toString('hex')}`;
let database: TestDatabase;
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
  const url = Object.assign(new URL(database.url), { username: role, password: 'process' });
  asProcess = openBareDatabase({ url: url.href });
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
