import { expect, test } from '@jest/globals';
import { faultsOfScript, faultsOfSource, findUndistributable, tableNames } from '../src/check/by-account.ts';

const table = (body: string) => `CREATE TABLE "things" (\n${body}\n) PARTITION BY RANGE ("id");`;

test('a table without an account is found, and so is each unique key that does not hold it', () => {
  const good = table('"account_id" TEXT NOT NULL,\n"id" UUID,\nCONSTRAINT "k" PRIMARY KEY ("account_id","id")');
  expect(tableNames(good)).toEqual(['things']);
  const index = 'CREATE UNIQUE INDEX "things_key" ON "things"("account_id", "name") WHERE "gone" IS NULL;';
  expect(faultsOfScript(`${good}\n${index}\nCREATE INDEX "i" ON "things"("name");`)).toEqual([]);
  for (const bad of [
    table('"id" UUID'),
    table('"account_id" TEXT,\n"id" UUID,\nCONSTRAINT "k" PRIMARY KEY ("id")'),
    table('"account_id" TEXT,\n"id" UUID PRIMARY KEY'),
    table('"account_id" TEXT,\n"name" TEXT,\nUNIQUE NULLS NOT DISTINCT ("name")'),
    'CREATE UNIQUE INDEX "things_key" ON "things"("name");',
    'CREATE UNIQUE INDEX "things_key" ON "things"("name") NULLS NOT DISTINCT;',
    'ALTER TABLE "things" ADD CONSTRAINT "u" UNIQUE ("name");',
  ])
    expect([bad, faultsOfScript(bad).length]).toEqual([bad, 1]);
});

/** What begins an expression within a text. */
const open = '$'.concat('{');

test('a statement about a table that names no account is found, in SQL and in chains of calls', () => {
  const faults = (source: string) => faultsOfSource(source, ['things']).length;
  const nested = `sql\`SELECT * FROM things WHERE ${open}all ? sql\`true\` : sql\`id = ${open}id}\`}\``;
  for (const bad of [
    'tx.run(`SELECT name FROM things WHERE id = $1`)',
    "tx.run('DELETE FROM things')",
    `tx.run(\`UPDATE ${open}table} SET name = $1\`)`,
    nested,
    "db(tx).selectFrom('things').where('id', '=', id).execute()",
  ])
    expect([bad, faults(bad)]).toEqual([bad, 1]);
  for (const good of [
    'tx.run(`SELECT name FROM things WHERE account_id = $1 AND id = $2`)',
    'tx.run(`SELECT name FROM scope`)',
    nested.replace('WHERE', `WHERE account_id = ${open}account} AND`),
    "db(tx).selectFrom('things').where('account_id', '=', account).executeTakeFirst()",
    "throw new Error('Nothing came from things')",
    'tx.run(`SELECT extract(epoch FROM things)`)',
  ])
    expect([good, faults(good)]).toEqual([good, 0]);
});

test('services whose databases are to be distributed can be', async () => {
  expect(await findUndistributable()).toBeUndefined();
});
