import { randomBytes } from 'node:crypto';
import { testServers } from '@attribution/testing';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { makeDatabases } from '../src/index.ts';

let names: readonly [string, string];
beforeEach(() => {
  const run = randomBytes(4).toString('hex');
  names = [`one_${run}`, `two_${run}`];
});
afterEach(async () => {
  for (const name of names) {
    await ask(testServers.postgresUrl(), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await ask(testServers.postgresUrl(), `DROP ROLE IF EXISTS ${name}`);
  }
});

// The server may be shared: other programs rely on these permissions.
afterAll(async () => {
  for (const shared of ['postgres', 'template1'])
    await ask(testServers.postgresUrl(), `GRANT CONNECT, TEMPORARY ON DATABASE ${shared} TO PUBLIC`);
});

/** The URL of a database for a role, by default of its own database. */
function urlOf(user: string, { database = user, password = 'p@ss/word' } = {}): string {
  const url = new URL(testServers.postgresUrl());
  Object.assign(url, { username: user, password: encodeURIComponent(password), pathname: `/${database}` });
  return url.href;
}

async function ask(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

const make = (urls = names.map((name) => urlOf(name))) => makeDatabases(testServers.postgresUrl(), urls, () => {});

test('each role can create tables in its own database, and can connect to no other', async () => {
  await make();
  const [one, two] = names;
  await ask(urlOf(one), 'CREATE TABLE things (id int PRIMARY KEY)');
  for (const database of [two, 'postgres', 'template1'])
    await expect(ask(urlOf(one, { database }), 'SELECT 1')).rejects.toThrow('permission denied for database');
  await expect(ask(urlOf(one), 'CREATE DATABASE mine')).rejects.toThrow('permission denied');
  await expect(ask(urlOf(one), `ALTER ROLE ${two} PASSWORD 'x'`)).rejects.toThrow('permission denied');
});

test('running it again, or several times at once, keeps existing data; a new password replaces the old one', async () => {
  await Promise.all([make(), make(), make()]);
  const [one] = names;
  await ask(urlOf(one), 'CREATE TABLE things (id int PRIMARY KEY)');
  await make([urlOf(one, { password: 'new' })]);
  await expect(ask(urlOf(one), 'SELECT 1')).rejects.toThrow('password authentication failed');
  expect((await ask(urlOf(one, { password: 'new' }), 'SELECT FROM things')).rowCount).toBe(0);
});

test('the role of a further URL of a database may connect to it and owns nothing there, also when it is run again', async () => {
  const [one, two] = names;
  const processes = urlOf(two, { database: one });
  await make([urlOf(one), processes]);
  await make([urlOf(one), processes]);
  await ask(urlOf(one), 'CREATE TABLE things (id int PRIMARY KEY)');
  for (const sql of ['SELECT FROM things', 'CREATE TABLE mine (id int)', 'CREATE TEMPORARY TABLE mine (id int)'])
    await expect(ask(processes, sql)).rejects.toThrow('permission denied');
  const { rows } = await ask(
    processes,
    'SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = current_database()',
  );
  expect(rows).toEqual([{ owner: one }]);
});

test('a URL without a password is refused', async () => {
  await expect(make(['postgresql://nobody@127.0.0.1/nothing'])).rejects.toThrow('needs a user, a password and a name');
});
