/** `young-generation.process.ts <url>`, with `--expose-gc`: how many results of 100 queries a collection of new objects leaves. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type PrismaLike, type Sql, type SqlTransaction } from '../src/index.ts';

const [url = ''] = process.argv.slice(2);
const noClient = () => ({ $disconnect: async () => {} }) as unknown as PrismaLike<SqlTransaction>;
const database = openDatabase({ url, poolSize: 1 }, noClient);

async function inSql(sql: Sql): Promise<WeakRef<object>[]> {
  const results: WeakRef<object>[] = [];
  for (let n = 0; n < 100; n++) results.push(new WeakRef(await sql.$queryRaw<object[]>`SELECT ${n}::int AS n`));
  return results;
}
async function inPool(): Promise<WeakRef<object>[]> {
  const results: WeakRef<object>[] = [];
  for (let n = 0; n < 100; n++) results.push(new WeakRef(await database.pool.query('SELECT 1 AS n')));
  return results;
}
const ways = {
  pool: inPool,
  sql: () => inSql(database.sql),
  transaction: () => database.sqlTransaction(inSql),
  session: () => database.session(inSql),
};
const left: Record<string, number> = {};
for (const [way, query] of Object.entries(ways)) {
  const results = await query();
  await sleep(10); // A WeakRef keeps its object until the end of the turn in which it was made.
  globalThis.gc?.({ type: 'minor' });
  left[way] = results.filter((result) => result.deref()).length;
}
process.stdout.write(JSON.stringify(left));
await database.close();
