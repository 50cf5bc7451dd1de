import type { Principal } from '@attribution/auth';
import type { Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import { createTestDatabase, eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createReadFigures } from '../src/reading/index.ts';
import { type EventsDatabase, openEventsDatabase } from '../src/store.ts';

/** Milliseconds. */
const statementTimeout = 200;

let database: EventsDatabase;
let drop: () => Promise<void>;
beforeAll(async () => {
  const created = await createTestDatabase('events');
  drop = created.drop;
  database = openEventsDatabase({ url: created.url, statementTimeout, poolSize: 2 });
});
afterAll(async () => {
  await database.close();
  await drop();
});

const someone = () => ({ accountId: newId('account'), id: newId('user') }) as Principal;
const limits = { maxWaitMs: 2_000, longestMs: 5_000 };
/** Work of so many seconds, which counts how often it begins. */
function sleeping(seconds: number) {
  const work = async (tx: Sql) => {
    work.begun++;
    await tx.$queryRawUnsafe(`SELECT pg_sleep(${seconds})`);
    return 'read';
  };
  work.begun = 0;
  return work;
}

test('what takes longer than a statement may is read with time of its own, and the next time at once', async () => {
  const { statement } = createReadFigures(database, limits);
  const asked = { caller: someone(), about: 'lift' };
  const work = sleeping(0.4);
  expect(await statement(asked, work)).toBe('read');
  expect(work.begun).toBe(2);
  expect(await statement(asked, work)).toBe('read');
  expect(work.begun).toBe(3);
});

test('one account that reads long leaves all connections of the pool to others', async () => {
  const { snapshot } = createReadFigures(database, limits);
  const [caller, work] = [someone(), sleeping(0.5)];
  const long = ['a', 'b', 'c'].map((about) => snapshot({ caller, about }, work));
  await eventually(async () => expect(work.begun).toBe(4)); // Three in vain, and the first of them in its turn.
  const other = await Promise.all([1, 2].map(() => snapshot({ caller: someone(), about: 'small' }, sleeping(0))));
  expect(other).toEqual(['read', 'read']);
  expect(await Promise.all(long)).toEqual(['read', 'read', 'read']);
});

test('in its turn, too, all statements of a snapshot see the same moment', async () => {
  const { snapshot } = createReadFigures(database, limits);
  const account = newId('account');
  const count = async (tx: Sql) => {
    const rows = await tx.$queryRawUnsafe<unknown[]>('SELECT FROM known_locations WHERE account_id = $1', account);
    return rows.length;
  };
  const seen = await snapshot({ caller: someone(), about: 'lift' }, async (tx) => {
    const before = await count(tx);
    await database.sql.$executeRawUnsafe(
      `INSERT INTO known_locations (account_id, id, group_id, timezone, aggregate_version) VALUES ($1, $2, 'grp', 'UTC', 1)`,
      account,
      newId('location'),
    );
    await tx.$queryRawUnsafe('SELECT pg_sleep(0.3)');
    return [before, await count(tx)];
  });
  expect(seen).toEqual([1, 1]); // The attempt in vain has told one before.
});

test('what takes longer than the longest time is cancelled and unavailable', async () => {
  const { statement } = createReadFigures(database, { ...limits, longestMs: 500 });
  const read = statement({ caller: someone(), about: 'lift' }, sleeping(60));
  await expect(read).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('0.5 s') });
  await eventually(async () => {
    const running =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(60)%' AND state = 'active'";
    const rows = await database.sql.$queryRawUnsafe<unknown[]>(`${running} AND pid <> pg_backend_pid()`);
    expect(rows).toEqual([]);
  });
});

test('whose turn does not come in time is told to try again', async () => {
  const { statement } = createReadFigures(database, { maxWaitMs: 300, longestMs: 60_000 });
  const [caller, inVain] = [someone(), sleeping(60)];
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const first = statement({ caller, about: 'lift' }, async (tx) => {
    if (inVain.begun === 0) return inVain(tx);
    begun.resolve();
    return ended.promise;
  });
  await begun.promise;
  const second = statement({ caller, about: 'cohorts' }, sleeping(60));
  await expect(second).rejects.toMatchObject({ kind: 'unavailable', headers: { 'retry-after': '5' } });
  ended.resolve('read');
  expect(await first).toBe('read');
});

test('an error that is no lack of time is not tried again', async () => {
  const { statement } = createReadFigures(database, limits);
  const work = async (tx: Sql) => {
    work.begun++;
    await tx.$queryRawUnsafe('SELECT nothing FROM nowhere');
  };
  work.begun = 0;
  await expect(statement({ caller: someone(), about: 'lift' }, work)).rejects.toThrow('nowhere');
  expect(work.begun).toBe(1);
});
